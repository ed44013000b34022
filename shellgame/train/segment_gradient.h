// The gradient of a batch's loss, for all its tokens at once or in pieces of time: then the
// activations of one piece are kept at a time and made again for the backward pass, so that memory
// decides no longer how far a gradient reaches. For mixers whose state is all that they remember.
#pragma once

#include "shellgame/models/model.h"

namespace shellgame {

struct SegmentLoss {
  double mean = 0;     // of the targets that count
  at::Tensor correct;  // [B, T] bool, as Loss has it
};

// The tokens of a piece where T are cut into `pieces`: whole chunks of the delta rule, but for the
// last piece.
std::int64_t piece_tokens(std::int64_t T, std::int64_t pieces);

// Adds `scale` times the gradient of the mean loss to the parameters' gradients. `state`, if given,
// is what the rows begin with (no gradient flows into it), and afterwards what they end with,
// without history. With a loss that is not finite it returns that loss at once, with gradients that
// are of no use. With one piece this is Model::loss and its backward pass; more pieces cost one
// forward pass more.
SegmentLoss add_segment_gradient(const Model& model, const at::Tensor& ids,
                                 const LossTargets& targets, std::int64_t pieces, double scale,
                                 ModelState* state, const LossFunction& function = cross_entropy);

}  // namespace shellgame
