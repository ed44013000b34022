#include "shellgame/traces/predictions.h"

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// The event whose evidence does not hold, as a filter would name it: by its step of the word.
[[noreturn]] void throw_contradiction(const Program& program, const Execution& run) {
  std::uint64_t step = 0, commands = 0;
  for (std::size_t i = 0; i < *run.contradiction; ++i) {
    const Event& event = program.events()[i];
    const bool command = is_command(event.kind);
    commands += command ? 1 : 0;
    step += event.kind == EventKind::kPrint ? event.count
                                            : (command || event.kind == EventKind::kAssert ? 1 : 0);
  }
  const Event& event = program.events()[*run.contradiction];
  const State& state = commands == 0 ? run.initial : run.states[commands - 1];
  std::size_t part = 0;
  if (event.kind == EventKind::kPrint) {
    while (part + 1u < event.count &&
           state[program.variables(event)[part]] == program.values(event)[part])
      ++part;
  }
  throw ZeroEvidence(step + part + 1, symbol_name(program, event, part, Prints::kByVariable), false,
                     "fp64");
}

// Without uncertainty every value is known: no filter is needed, whatever the number of variables.
std::vector<std::vector<double>> certain_predictions(const Program& program,
                                                     const std::vector<RevealMark>& marks) {
  const Execution run = execute(program);
  if (run.contradiction) throw_contradiction(program, run);
  std::vector<std::vector<double>> result;
  for (const RevealMark& mark : marks) {
    const State& state = mark.command == 0 ? run.initial : run.states[mark.command - 1];
    result.emplace_back(program.names().size())[state[mark.variable]] = 1;
  }
  return result;
}

}  // namespace

std::vector<std::vector<double>> predictions(const Program& program,
                                             const std::vector<RevealMark>& marks) {
  if (!is_uncertain(program)) return certain_predictions(program, marks);
  if (program.names().size() > static_cast<std::size_t>(kMaxPoints))
    wrong_use("exact beliefs of uncertain programs need at most {} variables, not {}", kMaxPoints,
              program.names().size());
  const ProgramWord read = word_of(program, Prints::kByVariable);
  const auto filter = make_exact_filter(read.automaton);
  std::vector<std::vector<double>> result;
  std::size_t next = 0;  // mark
  // Nothing is asked for after the last evidence, which may still be impossible.
  std::size_t last = read.word.size();
  while (last > 0 && read.automaton.symbol(read.word[last - 1]).is_transition_only()) --last;
  for (std::size_t t = 0; t < last; ++t) {
    const Event& event = program.events()[read.events[t]];
    // A print has a symbol for each of its marks; an assert has one symbol for all of them.
    bool first = true;
    while (next < marks.size() && marks[next].event == read.events[t] &&
           (first || event.kind == EventKind::kAssert)) {
      result.push_back(first ? filter->predict(marks[next].variable) : result.back());
      first = false;
      ++next;
    }
    filter->step(read.word[t]);
  }
  return result;
}

}  // namespace shellgame
