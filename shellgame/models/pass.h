// One pass of tokens through a model: what its parts remember, and the taps at which a probe may
// read and replace what flows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace shellgame {

// What a part remembers after the last token it has seen, by name. Empty at the beginning.
using PartState = std::map<std::string, at::Tensor>;

// A tensor that is a small part of a larger one (the last inputs of all, say) keeps all of that in
// memory for as long as it is remembered. Such tensors become copies; gradients flow through them.
void hold_no_more_than_remembered(PartState& state);

struct LayerState {
  PartState mixer, channel_mixer;
};

struct ModelState {
  std::vector<LayerState> layers;
  std::int64_t tokens = 0;  // seen so far

  // The same numbers without their history of gradients: the start of the next segment of a stream.
  ModelState detached() const;
  std::int64_t bytes() const;
};

struct TapPoint {
  int layer = 0;
  std::string name;
  // The token of a tap that is called token by token ("state"); -1 where the tensor holds all
  // tokens.
  std::int64_t token = -1;
};

// Which taps are wanted, and what is done there. `call` returns the tensor that flows on: the one
// that it received, or another of the same shape.
struct Taps {
  std::function<bool(const TapPoint&)> wanted;
  std::function<at::Tensor(const TapPoint&, const at::Tensor&)> call;
};

// A pass, as the parts see it.
class Pass {
 public:
  explicit Pass(const Taps* taps = nullptr) : taps_(taps) {}

  void enter(int layer) { layer_ = layer; }
  int layer() const { return layer_; }

  // Whether anybody wants this tap of the present layer. Fused forms are used where nobody does.
  bool wants(const std::string& name) const;
  bool wants_any(const std::vector<std::string>& names) const;
  // Through the tap.
  at::Tensor tap(const std::string& name, const at::Tensor& value, std::int64_t token = -1) const;

  // RWKV-7's layers read the values of the first one.
  at::Tensor first_values;

 private:
  const Taps* taps_;
  int layer_ = 0;
};

}  // namespace shellgame
