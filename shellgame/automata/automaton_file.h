// The TOML form of an automaton; docs/formats.md describes it, and every error names the file
// and what is wrong there: line and column, or symbol and state.
//
//   states = ["1", "2", "3"]                 # or: variables = ["a", "b", "c"] (all orders)
//   start = "2"                              # or { "2" = "1/2", "3" = "1/2" }, or "uniform"
//   word = ["mix", "look"]                   # optional: a word to filter
//
//   [symbol.mix]                             # from each state, a state or a distribution
//   next = { "1" = "1", "2" = { "1" = 0.5, "2" = 0.5 }, "3" = { "1" = 0.5, "3" = 0.5 } }
//   [symbol.look]
//   reveal = ["2", "3"]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shellgame/automata/automaton.h"

namespace shellgame {

struct AutomatonFile {
  Automaton automaton;
  std::vector<SymbolId> word;
};

// Throws InputError with file, line and column.
AutomatonFile parse_automaton(std::string_view text, const std::string& file);
// The text that reads back as the same automaton.
std::string write_automaton(const Automaton& automaton, const std::vector<SymbolId>& word = {});

}  // namespace shellgame
