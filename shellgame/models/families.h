// The families, by origin.
#pragma once

#include <vector>

#include "shellgame/models/family.h"

namespace shellgame {

std::vector<Family> fla_families();
Family qwen3_family();
// "shellgame_MIXER" for every mixer, and "shellgame_hybrid".
std::vector<Family> own_families();

// num_hidden_layers, within reason.
std::int64_t layer_count(const Options& options);

// What flash-linear-attention's families share.
Options::Json fla_common_keys();
ModelSpec fla_spec(const Options& options, const std::string& mixer);

}  // namespace shellgame
