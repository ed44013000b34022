// Cross entropy of the head's logits at selected positions, with the final norm.
#pragma once

#include <ATen/core/Tensor.h>

namespace shellgame {

struct TokenLoss {
  at::Tensor mean;     // scalar; 0 if no target counts
  at::Tensor correct;  // [N] bool: the target has the largest logit; false where none is
};

// x [N, D]; norm_weight [D] of a final RMSNorm, or undefined where x is normed already; weight
// [vocabulary, D]; targets [N]: negative ones do not count, and their rows cost nothing.
TokenLoss token_loss(const at::Tensor& x, const at::Tensor& norm_weight, double eps,
                     const at::Tensor& weight, const at::Tensor& targets, bool l2_warp);

}  // namespace shellgame
