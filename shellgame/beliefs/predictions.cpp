#include "shellgame/beliefs/predictions.h"

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

// Without uncertainty every value is known: no filter is needed, whatever the number of variables.
std::vector<std::vector<double>> certain_predictions(const Program& program,
                                                     const std::vector<RevealMark>& marks) {
  const Execution run = execute(program);
  if (run.contradiction) fail("event {}: what it shows is impossible", *run.contradiction + 1);
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
  for (std::size_t t = 0; t < read.word.size(); ++t) {
    const Event& event = program.events()[read.events[t]];
    // A print has a symbol for each of its marks; an assert has one symbol for all of them.
    bool first = true;
    while (next < marks.size() && marks[next].event == read.events[t] &&
           (first || event.kind == EventKind::kAssert)) {
      result.push_back(first ? filter->predict(marks[next].variable) : result.back());
      first = false;
      ++next;
    }
    if (next == marks.size()) break;  // nothing after the last reveal is asked for
    filter->step(read.word[t]);
  }
  return result;
}

}  // namespace shellgame
