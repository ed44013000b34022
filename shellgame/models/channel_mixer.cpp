#include "shellgame/models/channel_mixer.h"

#include <ATen/Functions.h>

#include "shellgame/models/delta_parts.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/linear.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// down(SiLU(gate(x)) * up(x))
class SwiGlu : public ChannelMixer {
 public:
  SwiGlu(std::int64_t width, const Options& options, const Weights& weights) {
    options.word("hidden_act", {"swish", "silu"});
    const std::int64_t inner = options.size("intermediate_size");
    gate_ = weights.linear("gate_proj", inner, width);
    up_ = weights.linear("up_proj", inner, width);
    down_ = weights.linear("down_proj", width, inner);
  }

  at::Tensor forward(const Stream& stream, PartState*, Pass&) const override {
    const Norm* norm = stream.norm();
    if (norm != nullptr && !norm->centred) {
      return swiglu_mlp(stream.x(), norm->weight, norm->eps, gate_, up_, down_);
    }
    const std::vector<at::Tensor> parts = stream.project({gate_, up_});
    return stream.add_projected(at::silu(parts[0]) * parts[1], down_);
  }

 private:
  at::Tensor gate_, up_, down_;
};

// value(act(key(x + (x_{t-1} - x_t) * x_k)))
class RwkvChannelMix : public ChannelMixer {
 public:
  RwkvChannelMix(std::int64_t width, const Options& options, const Weights& weights)
      : activation_(options.word(
            "hidden_act", {"sqrelu", "relu", "silu", "swish", "gelu", "sigmoid", "logsigmoid"})) {
    const std::int64_t inner = options.size("intermediate_size");
    shift_ = weights.constant("x_k", {width}, 0);
    key_ = weights.linear("key", inner, width);
    value_ = weights.linear("value", width, inner);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass&) const override {
    const at::Tensor& x = stream.normed();
    const at::Tensor mixed = x + token_shift(x, state) * shift_;
    return stream.add_projected(activate(activation_, at::linear(mixed, key_)), value_);
  }

 private:
  std::string activation_;
  at::Tensor shift_, key_, value_;
};

}  // namespace

std::unique_ptr<ChannelMixer> make_channel_mixer(const std::string& kind, std::int64_t width,
                                                 const Options& options, const Weights& weights) {
  if (kind == "none") return nullptr;
  if (kind == "swiglu") return std::make_unique<SwiGlu>(width, options, weights);
  if (kind == "rwkv_channel_mix") return std::make_unique<RwkvChannelMix>(width, options, weights);
  wrong_use("a channel mixer must be swiglu, rwkv_channel_mix or none, not '{}'", kind);
}

}  // namespace shellgame
