#include "shellgame/ops/short_conv.h"

#include <ATen/Functions.h>

#include "shellgame/kernels/short_conv.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

// [B, W + T, C]
at::Tensor with_history(const at::Tensor& x, const at::Tensor& before, std::int64_t width) {
  const at::Tensor history = before.defined()
                                 ? before.transpose(1, 2)
                                 : at::zeros({x.size(0), width, x.size(2)}, x.options());
  return at::cat({history, x}, 1);
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct ShortConvOp : KernelFunction<ShortConvOp> {
  static constexpr const char* kName = "the short convolution";

  static ShortConvSizes sizes_of(const at::Tensor& x, const at::Tensor& weight) {
    return {.B = static_cast<std::size_t>(x.size(0)),
            .T = static_cast<std::size_t>(x.size(1)),
            .channels = static_cast<std::size_t>(x.size(2)),
            .W = static_cast<std::size_t>(weight.size(2))};
  }

  static ShortConvInput<float> input_of(const variable_list& parts, bool silu) {
    return {.x = channel_rows(parts[0]),
            .weights = numbers(parts[1]),
            .bias = numbers(parts[2]),
            .state = numbers(parts[3]),
            .silu = silu};
  }

  static RowView<const float> channel_rows(const at::Tensor& x) {
    const ConstRows rows = const_rows(x);
    return {rows.data, static_cast<std::size_t>(rows.stride)};
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in,
                            const at::Tensor& weight, const MaybeTensor& bias,
                            const MaybeTensor& before, bool silu) {
    const PartTimer timer("convolution, forward");
    const variable_list parts = {even_rows(x_in), weight.contiguous(), or_undefined(bias),
                                 before.has_value() ? before->contiguous() : at::Tensor()};
    at::Tensor y = at::empty(x_in.sizes(), x_in.options());
    short_conv_forward(sizes_of(parts[0], weight), input_of(parts, silu),
                       {.y = {mutable_numbers(y), static_cast<std::size_t>(y.size(2))}});
    context->save_for_backward(parts);
    context->saved_data["silu"] = silu;
    return y;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("convolution, backward");
    const variable_list parts = context->get_saved_variables();
    const at::Tensor dy = even_rows(upstream[0]);
    variable_list result(5);
    WantedGradients wanted(context);
    for (std::size_t i = 0; i < 4; ++i) result[i] = wanted.next_like(parts[i]);
    ShortConvGradients<float> gradients;
    gradients.dy = channel_rows(dy);
    gradients.dx = {mutable_numbers(result[0]), static_cast<std::size_t>(dy.size(2))};
    gradients.dweights = mutable_numbers(result[1]);
    gradients.dbias = mutable_numbers(result[2]);
    gradients.dstate = mutable_numbers(result[3]);
    short_conv_backward(sizes_of(parts[0], parts[1]),
                        input_of(parts, context->saved_data["silu"].toBool()), gradients);
    return result;
  }
};

}  // namespace

at::Tensor short_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      const std::string& activation, const at::Tensor& before) {
  const bool silu = activation == "silu" || activation == "swish";
  if ((silu || activation == "identity") && kernels_fit({x, weight, bias, before})) {
    return ShortConvOp::apply(x, weight, maybe(bias), maybe(before), silu);
  }
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
