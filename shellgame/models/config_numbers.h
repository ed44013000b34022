// The numbers of a model's configuration (config.json, [model] of an experiment): what each key may
// be, declared once for all families. No Torch here: the tool lists them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/text/number.h"

namespace shellgame {

// Also of tables inside ("attn", "rope_parameters") and of lists ("A_init_range").
const std::vector<DeclaredNumber>& config_numbers();
// Nullptr for a key that holds no number, and for one of a mixer from elsewhere.
const NumberBounds* find_config_number(const std::string& key);

// Refuses a number outside its bounds, and what is no number, wherever it stands in a
// configuration. Null stands for the default. Throws InputError at `where`.
void check_config_numbers(const nlohmann::json& config, const std::string& where);

}  // namespace shellgame
