#include "shellgame/ops/activation.h"

#include <ATen/Functions.h>

#include "shellgame/text/error.h"

namespace shellgame {

at::Tensor activate(const std::string& name, const at::Tensor& x) {
  if (name == "silu" || name == "swish") return at::silu(x);
  if (name == "identity") return x;
  if (name == "relu") return at::relu(x);
  if (name == "elu") return at::elu(x) + 1;
  if (name == "sigmoid") return at::sigmoid(x);
  if (name == "sqrelu") return at::relu(x).square();
  if (name == "gelu") return at::gelu(x, "tanh");  // fla's form
  if (name == "logsigmoid") return at::log_sigmoid(x);
  if (name == "tanh") return at::tanh(x);
  wrong_use(
      "an activation must be silu, swish, identity, relu, elu, sigmoid, logsigmoid, sqrelu, gelu "
      "or "
      "tanh, not '{}'",
      name);
}

}  // namespace shellgame
