// TOML as JSON and back, for files whose keys are read by name.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shellgame {

// Throws InputError with line and column for what is no TOML (dates and times are refused too).
nlohmann::json toml_to_json(std::string_view text, const std::string& file);
// Tables and lists of them get headers, null is left out.
std::string json_to_toml(const nlohmann::json& table);

// Changes one value: "optimiser.learning-rate=1e-3"; a number steps into a list
// ("stages.0.batch=4") and '*' into all of its items. The text after '=' is a TOML value; what is
// none is a string.
void set_by_path(nlohmann::json& table, const std::string& change);

}  // namespace shellgame
