// A model: embedding, blocks, final norm, head. One implementation for all families; what differs
// is named in the configuration. Tensors of parameters are shared by copies of handles, so a Model
// is made once and passed by reference.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shellgame/models/block.h"
#include "shellgame/models/family.h"
#include "shellgame/models/loss.h"
#include "shellgame/models/pass.h"
#include "shellgame/models/weights.h"

namespace shellgame {

class Model {
 public:
  explicit Model(ModelConfig config, InitOptions init = {});

  // ids [B, T] (int64) to logits [B, T, vocabulary]. `state` in and out, if given (an empty one is
  // the beginning).
  at::Tensor logits(const at::Tensor& ids, ModelState* state = nullptr,
                    const Taps* taps = nullptr) const;
  // The logits after some tokens only, for who needs few of them: `places` [P] (int64) counts the
  // tokens of ids row after row, b * T + t; gives [P, vocabulary].
  at::Tensor logits_at(const at::Tensor& ids, const at::Tensor& places,
                       ModelState* state = nullptr) const;
  // One token of each sequence: tokens [B] to logits [B, vocabulary]. The same as logits() with
  // T = 1, token after token.
  at::Tensor step(const at::Tensor& tokens, ModelState& state) const;
  // The loss of targets [B, T] (negative: not counted), for training: of cross entropy, logits are
  // not kept.
  Loss loss(const at::Tensor& ids, const LossTargets& targets, ModelState* state = nullptr,
            const Taps* taps = nullptr, const LossFunction& function = cross_entropy) const;

  const ModelConfig& config() const { return config_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Throws UsageError if there is none.
  const Parameter& parameter(const std::string& name) const;
  std::int64_t parameter_count() const;
  // Changes the numbers' kind or place of all parameters.
  void to(at::ScalarType type);
  void to(at::Device device);
  // What the mixer of a layer says about itself.
  MixerDeclaration declaration(std::size_t layer) const {
    return blocks_.at(layer).mixer().declaration();
  }
  std::size_t layers() const { return blocks_.size(); }
  // Whether streaming needs memory that does not grow.
  bool constant_memory() const;

 private:
  void make(const InitOptions& init);
  at::Tensor hidden(const at::Tensor& ids, ModelState* state, const Taps* taps) const;

  ModelConfig config_;
  std::vector<Parameter> parameters_;
  at::Tensor embeddings_, head_;
  std::vector<Block> blocks_;
  Norm final_norm_;
};

}  // namespace shellgame
