// Where the belief commands take their automaton and word from: a task's sample, a trace, an
// automaton file, or a built-in example.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/tool/command.h"

namespace shellgame {

struct BeliefInput {
  std::uint64_t index = 0;  // of the trace
  Automaton automaton;
  std::vector<SymbolId> word;
  std::vector<std::uint64_t> commands;  // done before each symbol; empty for automata
};

class BeliefSource {
 public:
  explicit BeliefSource(CLI::App* command);
  std::vector<BeliefInput> read(Prints prints) const;
  bool is_task() const;
  // The task's sample after the first one that read() gives.
  BeliefInput next_sample(Prints prints) const;
  // The automaton of the whole task, or of the given file or trace.
  Automaton whole() const;

 private:
  struct Given;
  std::shared_ptr<Given> given_;
};

// --filter, --precision, --flush-subnormals and --hard-resets.
struct FilterWords {
  std::string filter = "exact", precision = "fp64";
  bool flush = false, hard_resets = false;
  FilterOptions options() const;
};
void add_format_flags(CLI::App* command, FilterWords& words);

}  // namespace shellgame
