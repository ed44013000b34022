// Programs of the trace language as automata: a command is a transition-only symbol, a print or an
// assert a reveal-only one, and the text of the event is the symbol's name. The states are all
// orders of the program's values.
#pragma once

#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/programs/program.h"
#include "shellgame/tasks/sampler.h"

namespace shellgame {

// A program's automaton, which has the symbols that occur in it, and the program as its word.
struct ProgramWord {
  Automaton automaton;
  std::vector<SymbolId> word;
  std::vector<std::uint32_t> events;  // word[t] is the event events[t] of the program
};

// What a print of several variables is: one symbol, or one a variable, in the order of the text.
enum class Prints { kWhole, kByVariable };

// The symbol of a command or evidence: its text, and for a part of a print by variable the
// variable, with its place if the print has named it before: each place shows a value of its own.
std::string symbol_name(const Program& program, const Event& event, std::size_t part,
                        Prints prints);

// Throws UsageError if a variable is assigned after the first command.
ProgramWord word_of(const Program& program, Prints prints = Prints::kWhole);

// The automaton of a whole task: one symbol for each command that its traces may have and for each
// single reveal. Throws UsageError where the task draws its commands from too large a set to list.
Automaton automaton_of(const Sampler& sampler);

}  // namespace shellgame
