// Weights of another model as the first ones of a run (`train --from`).
#pragma once

#include <string>

#include "shellgame/models/model.h"

namespace shellgame {

// Copies the weights of the Hugging Face directory `from` into `model`. Throws UsageError if it has
// other parameters or shapes.
void read_first_weights(const std::string& from, const Model& model);

}  // namespace shellgame
