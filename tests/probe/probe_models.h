// Models whose insides are known, for tests of probes.
#pragma once

#include <string>

#include "shellgame/episodes/whole_episodes.h"
#include "shellgame/models/exact.h"
#include "shellgame/models/model.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

Model exact_as_model(const ExactOptions& options);
Model untrained_model(const std::string& mixer);
// A model of the same numbers: within each parameter they are in another order.
void shuffle_weights(const Model& model);

const Tokenizer& lexeme_tokenizer();
// Traces of a task file's text.
WholeEpisodes probe_traces(const std::string& toml, std::uint64_t count);

}  // namespace shellgame
