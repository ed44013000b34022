#include "shellgame/ops/short_conv.h"

#include <ATen/Functions.h>

#include "shellgame/ops/activation.h"

namespace shellgame {
namespace {

// [B, W + T, C]
at::Tensor with_history(const at::Tensor& x, const at::Tensor& before, std::int64_t width) {
  const at::Tensor history = before.defined()
                                 ? before.transpose(1, 2)
                                 : at::zeros({x.size(0), width, x.size(2)}, x.options());
  return at::cat({history, x}, 1);
}

}  // namespace

at::Tensor short_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      const std::string& activation, const at::Tensor& before) {
  const std::int64_t width = weight.size(2), time = x.size(1);
  const at::Tensor inputs = with_history(x, before, width);
  at::Tensor y;
  for (std::int64_t i = 0; i < width; ++i) {
    const at::Tensor term = inputs.narrow(1, i + 1, time) * weight.select(2, i).select(1, 0);
    y = i == 0 ? term : y + term;
  }
  if (bias.defined()) y = y + bias;
  return activate(activation, y);
}

at::Tensor last_inputs(const at::Tensor& x, const at::Tensor& before, std::int64_t width) {
  const at::Tensor inputs = x.size(1) >= width ? x : with_history(x, before, width);
  return inputs.narrow(1, inputs.size(1) - width, width).transpose(1, 2);
}

}  // namespace shellgame
