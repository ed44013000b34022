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

StateTap state_tap(const Pass& pass) {
  if (!pass.wants("state")) return {};
  return [&pass](std::int64_t t, const at::Tensor& state) { return pass.tap("state", state, t); };
}

}  // namespace shellgame
