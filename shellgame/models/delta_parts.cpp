#include "shellgame/models/delta_parts.h"

#include <ATen/Functions.h>

#include "shellgame/ops/activation.h"
#include "shellgame/ops/short_conv.h"

namespace shellgame {

at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads});
}

at::Tensor remembered(const PartState* state, const std::string& name) {
  if (state == nullptr) return {};
  const auto found = state->find(name);
  return found == state->end() ? at::Tensor() : found->second;
}

at::Tensor convolved(const at::Tensor& x, const at::Tensor& weight, const std::string& activation,
                     const std::string& name, PartState* state, const at::Tensor& bias) {
  if (!weight.defined()) return activate(activation, x);
  const at::Tensor before = remembered(state, name);
  if (state != nullptr) (*state)[name] = last_inputs(x, before, weight.size(2));
  return short_conv(x, weight, bias, activation, before);
}

at::Tensor spread_heads(const at::Tensor& x, std::int64_t value_heads) {
  return x.size(2) == value_heads ? x : x.repeat_interleave(value_heads / x.size(2), 2);
}

void require_grouping(const Options& options, std::int64_t heads, std::int64_t value_heads) {
  if (value_heads % heads != 0) {
    options.refuse(fmt::format("num_v_heads must be a multiple of num_heads = {}, not {}", heads,
                               value_heads));
  }
}

std::int64_t expanded_width(const Options& options) {
  const auto width = static_cast<std::int64_t>(static_cast<double>(options.size("head_dim")) *
                                               options.number("expand_v"));
  if (width < 1) options.refuse("head_dim * expand_v must be at least 1");
  return width;
}

at::Tensor HeadDecay::log_decay(const at::Tensor& x) const {
  return -rate.exp() * at::softplus(x + bias);
}

at::Tensor HeadDecay::log_decay_of_channels(const at::Tensor& x, std::int64_t heads) const {
  return -rate.exp().unsqueeze(-1) * split_heads(at::softplus(x + bias), heads);
}

at::Tensor HeadDecay::bounded(const at::Tensor& x, double bound, std::int64_t heads) const {
  return bound * (rate.exp().unsqueeze(-1) * split_heads(x + bias, heads)).sigmoid();
}

double draw_step_bias(RandomStream& stream, double least, double most, double floor) {
  const double span = std::log(most) - std::log(least);
  const double step = std::max(std::exp(std::log(least) + span * draw_uniform(stream)), floor);
  return step + std::log(-std::expm1(-step));
}

HeadDecay make_head_decay(const Weights& weights, std::int64_t heads, std::int64_t biases,
                          double from, double to) {
  return {.rate = weights.drawn("A_log", {heads},
                                [=](RandomStream& stream) {
                                  // 1 - U is never 0, and its logarithm is finite.
                                  return std::log(from + (to - from) * (1 - draw_uniform(stream)));
                                }),
          .bias = weights.drawn("dt_bias", {biases}, [](RandomStream& stream) {
            return draw_step_bias(stream, 1e-3, 0.1, 1e-4);
          })};
}

std::vector<Remembered> delta_memory(std::int64_t heads, std::int64_t key_heads, bool convolved,
                                     std::int64_t steps) {
  using enum Remembered::Kind;
  std::vector<Remembered> all = {{.name = "recurrent", .kind = kState, .heads = heads}};
  if (convolved) {
    all.push_back({.name = "conv_q", .kind = kInputs, .heads = key_heads});
    all.push_back({.name = "conv_k", .kind = kInputs, .heads = key_heads, .steps = steps});
    all.push_back({.name = "conv_v", .kind = kInputs, .heads = heads, .steps = steps});
  }
  return all;
}

at::Tensor token_shift(const at::Tensor& x, PartState* state) {
  const at::Tensor before = remembered(state, "last");
  const at::Tensor first = before.defined() ? before : at::zeros_like(x.narrow(1, 0, 1));
  if (state != nullptr) (*state)["last"] = x.narrow(1, x.size(1) - 1, 1);
  return at::cat({first, x.narrow(1, 0, x.size(1) - 1)}, 1) - x;
}

StateTap state_tap(const Pass& pass) {
  if (!pass.wants("state")) return {};
  return [&pass](std::int64_t t, const at::Tensor& state) { return pass.tap("state", state, t); };
}

}  // namespace shellgame
