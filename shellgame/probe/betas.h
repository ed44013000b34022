// `shellgame probe betas`: how beta is distributed, head by head and by the kind of the token that
// it belongs to. A beta of 2 makes a step a reflection.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "shellgame/probe/heads.h"

namespace shellgame {

inline constexpr double kNearTwo = 1.9;

// {"layers": [{layer, above_1.9, count, mean, min, q05, ..., max}], "heads": [the same with
// "head"], "kinds": [with "kind" as well]}. Throws UsageError if no mixer has a beta.
nlohmann::ordered_json probe_betas(const Model& model, const std::vector<WholeEpisode>& traces);
// For people: a row a head, and the median beta of each kind.
std::string betas_as_text(const nlohmann::ordered_json& report);

}  // namespace shellgame
