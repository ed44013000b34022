// From a loss's name to the function that computes it: the side of train/losses.h that needs Torch.
#pragma once

#include "shellgame/models/loss.h"
#include "shellgame/train/losses.h"

namespace shellgame {

// Throws UsageError if nothing computes a loss of this name.
LossFunction loss_function(const LossChoice& choice);
// For plug-ins. Throws UsageError if the name is taken.
void register_loss(const LossDeclaration& declaration, LossComputation computation);

}  // namespace shellgame
