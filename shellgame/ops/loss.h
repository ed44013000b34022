// Cross entropy of the head's logits at selected positions.
#pragma once

#include <ATen/core/Tensor.h>

namespace shellgame {

struct HeadLoss {
  at::Tensor mean;     // scalar; 0 if no target counts
  at::Tensor correct;  // [N] bool: the target has the largest logit; false where none is
};

// x [N, D] (already normed), weight [vocabulary, D], targets [N]: negative ones do not count, and
// their rows cost nothing.
HeadLoss head_loss(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets,
                   bool l2_warp);

}  // namespace shellgame
