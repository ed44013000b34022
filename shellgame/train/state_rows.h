// The rows of a model's state: streams of a batch begin anew one by one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shellgame/models/pass.h"

namespace shellgame {

// Whether every row of a batch has a state of its own, of which zeros are the beginning: true of
// recurrent mixers, not of attention, whose rows share their position.
bool rows_are_apart(const ModelState& state);
// The chosen rows at the beginning again.
void restart_rows(ModelState& state, const std::vector<bool>& rows);

// The rows of a stream that begin anew; where rows share their position, all do or none.
void begin_rows(ModelState& state, const std::vector<bool>& fresh);

// All tensors by name ("0.mixer.recurrent"), and back.
std::map<std::string, at::Tensor> state_tensors(const ModelState& state);
ModelState state_from_tensors(const std::map<std::string, at::Tensor>& tensors,
                              std::int64_t tokens);

}  // namespace shellgame
