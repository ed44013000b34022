// A block: norm, mixer, norm, channel mixer, each adding to the stream.
#pragma once

#include <memory>

#include "shellgame/models/channel_mixer.h"
#include "shellgame/models/mixer.h"
#include "shellgame/models/spec.h"

namespace shellgame {

class Block {
 public:
  Block(const ModelSpec& spec, int layer, const Weights& weights);

  // x [B, T, D] in, [B, T, D] out.
  at::Tensor forward(const at::Tensor& x, LayerState* state, Pass& pass) const;
  const Mixer& mixer() const { return *mixer_; }

 private:
  Norm first_norm_;  // undefined weight: none
  Norm mixer_norm_, channel_norm_;
  std::unique_ptr<Mixer> mixer_;
  std::unique_ptr<ChannelMixer> channel_mixer_;
};

}  // namespace shellgame
