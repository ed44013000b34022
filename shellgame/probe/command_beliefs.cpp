#include "shellgame/probe/command_beliefs.h"

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"

namespace shellgame {

std::vector<std::vector<double>> beliefs_after(const Program& program) {
  const ProgramWord read = word_of(program, Prints::kByVariable);
  const auto filter = make_exact_filter(read.automaton);
  std::vector<std::vector<double>> beliefs;
  for (std::size_t t = 0; t < read.word.size(); ++t) {
    filter->step(read.word[t]);
    if (is_command(program.events()[read.events[t]].kind)) beliefs.push_back(filter->marginals());
  }
  return beliefs;
}

}  // namespace shellgame
