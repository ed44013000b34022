// The base of all differentiable functions that kernels compute. Kernels give first gradients only,
// and those that are wanted.
#pragma once

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstddef>
#include <utility>

#include "shellgame/text/error.h"

namespace shellgame {

// An `Op` has forward(context, ...) as Torch wants it, gradients(context, upstream) in the place of
// backward, and kName for sentences. The tensors that gradients() gives have no history: Torch
// would take them for constants, and gradients of gradients would be silently wrong.
template <class Op>
struct KernelFunction : torch::autograd::Function<Op> {
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list upstream) {
    if (at::GradMode::is_enabled()) {  // only under create_graph
      fail(
          "the kernel of {} gives no gradients of gradients (create_graph): use the composed form, "
          "EngineScope(Engine::kComposed)",
          Op::kName);
    }
    return Op::gradients(context, std::move(upstream));
  }
};

// Which gradients are wanted, asked in the order of the function's tensors.
class WantedGradients {
 public:
  explicit WantedGradients(const torch::autograd::AutogradContext* context) : context_(context) {}

  // Of the next tensor. One that was not given has no place in Torch's list.
  bool next(bool given = true) { return given && context_->needs_input_grad(place_++); }

  // Space for the next tensor's gradient, which has the shape of `like`; undefined if nobody wants
  // it.
  at::Tensor next_like(const at::Tensor& like) {
    return next(like.defined()) ? at::empty(like.sizes(), like.options()) : at::Tensor();
  }

 private:
  const torch::autograd::AutogradContext* context_;
  std::size_t place_ = 0;
};

}  // namespace shellgame
