// Whether a model's numbers are numbers. Answers that are made of infinities and NaNs look like
// others: the largest of them is the first token, and a mean of them a dash.
#pragma once

#include <string_view>

#include "shellgame/models/model.h"

namespace shellgame {

bool all_finite(const at::Tensor& tensor);

// The first parameter that is not finite everywhere; null if all are.
const Parameter* first_not_finite(const Model& model);

// Throws Error: `what` must be finite.
void require_finite(const at::Tensor& tensor, std::string_view what);
// What the model remembers.
void require_finite(const ModelState& state);

}  // namespace shellgame
