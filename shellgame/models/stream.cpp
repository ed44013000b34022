#include "shellgame/models/stream.h"

#include <ATen/Functions.h>

#include "shellgame/ops/linear.h"
#include "shellgame/ops/norm.h"
#include "shellgame/text/error.h"

namespace shellgame {

at::Tensor Norm::operator()(const at::Tensor& x) const {
  return centred ? layer_norm(x, weight, bias, eps) : rms_norm(x, weight, eps);
}

Norm make_norm(const Weights& weights, const std::string& name, const std::string& kind,
               std::int64_t width, double eps, bool bias) {
  if (kind != "rms_norm" && kind != "layer_norm") {
    wrong_use("a norm must be rms_norm or layer_norm, not '{}'", kind);
  }
  Norm norm{.weight = weights.constant(name + ".weight", {width}, 1),
            .bias = {},
            .eps = eps,
            .centred = kind == "layer_norm"};
  if (bias) norm.bias = weights.constant(name + ".bias", {width}, 0);
  return norm;
}

const at::Tensor& Stream::normed() const {
  if (!normed_.defined()) normed_ = norm_ == nullptr ? x_ : (*norm_)(x_);
  return normed_;
}

at::Tensor Stream::project_together(const std::vector<at::Tensor>& weights) const {
  if (normed_.defined() || norm_ == nullptr || norm_->centred || norm_->bias.defined()) {
    return at::linear(normed(), weights.size() == 1 ? weights[0] : at::cat(weights, 0));
  }
  const NormLinear both = norm_linear(x_, norm_->weight, norm_->eps, weights);
  x_ = both.x;
  return both.y;
}

std::vector<at::Tensor> Stream::project(const std::vector<at::Tensor>& weights) const {
  std::vector<std::int64_t> widths;
  for (const at::Tensor& weight : weights) widths.push_back(weight.size(0));
  return project_together(weights).split_with_sizes(widths, -1);
}

at::Tensor Stream::add(const at::Tensor& y) const { return x_ + y; }

at::Tensor Stream::add_projected(const at::Tensor& o, const at::Tensor& weight,
                                 const at::Tensor& bias) const {
  return bias.defined() ? x_ + at::linear(o, weight, bias) : linear_add(x_, o, weight);
}

}  // namespace shellgame
