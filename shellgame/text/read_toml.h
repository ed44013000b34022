// The one reader of TOML. For sources only: who uses an installed shellgame needs no toml++.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace shellgame {

// Throws InputError with "file:line:column" for what is no TOML, and for tables and lists that are
// nested deeper than kMaxNesting (read_json.h), be it by brackets or by dots between keys.
toml::table parse_toml(std::string_view text, const std::string& file);

// "file:line:column" of something that was read.
std::string toml_place(const std::string& file, const toml::source_region& source);

}  // namespace shellgame
