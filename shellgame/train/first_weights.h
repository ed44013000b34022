// Weights of another model as the first ones of a run (`train --from`).
#pragma once

#include <string>

#include "shellgame/models/model.h"

namespace shellgame {

// Copies the weights of the Hugging Face directory `from` into `model`. Throws UsageError if it has
// other parameters or shapes. Returns the keys of its configuration that have another value (beta's
// range, an activation), which may be what is wanted: "allow_neg_eigval is true there, false here".
std::string read_first_weights(const std::string& from, const Model& model);

}  // namespace shellgame
