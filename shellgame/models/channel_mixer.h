// The part of a block that works on each token alone (almost: RWKV's looks one token back):
// "swiglu", "rwkv_channel_mix" or "none".
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "shellgame/models/options.h"
#include "shellgame/models/pass.h"
#include "shellgame/models/stream.h"
#include "shellgame/models/weights.h"

namespace shellgame {

class ChannelMixer {
 public:
  virtual ~ChannelMixer() = default;
  // The stream with its output added.
  virtual at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const = 0;
};

// Null for "none". Options: intermediate_size, hidden_act (swish, silu; sqrelu for RWKV).
std::unique_ptr<ChannelMixer> make_channel_mixer(const std::string& kind, std::int64_t width,
                                                 const Options& options, const Weights& weights);

}  // namespace shellgame
