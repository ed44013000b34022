// The rows of a model's state: streams of a batch begin anew one by one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shellgame/models/model.h"

namespace shellgame {

// Whether every row of a batch can begin anew without the others: true of recurrent mixers, not of
// those that count positions or keep tokens (MixerDeclaration).
bool rows_are_apart(const Model& model);
// The chosen rows at the beginning again, as mixers declare it; what channel mixers remember begins
// at zero. Rows must be apart.
void restart_rows(const Model& model, ModelState& state, const std::vector<bool>& rows);

// The rows of a stream that begin anew; where they are not apart, all do or none.
void begin_rows(const Model& model, ModelState& state, const std::vector<bool>& fresh);

// All tensors by name ("0.mixer.recurrent"), and back.
std::map<std::string, at::Tensor> state_tensors(const ModelState& state);
ModelState state_from_tensors(const std::map<std::string, at::Tensor>& tensors,
                              std::int64_t tokens);

}  // namespace shellgame
