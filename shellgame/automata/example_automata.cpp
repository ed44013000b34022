#include "shellgame/automata/example_automata.h"

#include <fmt/ranges.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

struct Named {
  const char* name;
  const char* toml;
};

constexpr Named kExamples[] = {{"halving", R"toml(states = ["in", "out"]
start = "in"
word = ["halve"]
[symbol.halve]
reveal = ["in"]
next = { in = { in = 0.5, out = 0.5 }, out = "out" }
)toml"},
                               {"joint-cycle", R"toml(states = ["1", "2", "3"]
start = { "2" = 0.5, "3" = 0.5 }
word = ["mix", "reveal {2,3}"]
[symbol.mix]
next = { "1" = "1", "2" = { "1" = 0.5, "2" = 0.5 }, "3" = { "1" = 0.5, "3" = 0.5 } }
[symbol."reveal {2,3}"]
reveal = ["2", "3"]
)toml"},
                               {"marginal-cycle", R"toml(variables = ["a", "b", "c"]
start = [1, 2, 3]
word = ["mix b c", "R(2,2)"]
[symbol."mix b c"]
shuffle = "0.5 (2 3), 0.5 ()"
[symbol."R(2,2)"]
reveal = { b = 2 }
[symbol."R(3,3)"]
reveal = { c = 3 }
)toml"},
                               {"monty-hall", R"toml(states = ["car 1", "car 2", "car 3"]
start = "uniform"
word = ["open 3"]
[symbol."open 2"]
reveal = ["car 1", "car 3"]
policy = { "car 1" = "1/2", "car 3" = 1 }
[symbol."open 3"]
reveal = ["car 1", "car 2"]
policy = { "car 1" = "1/2", "car 2" = 1 }
)toml"}};

}  // namespace

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const Named& example : kExamples) names.emplace_back(example.name);
  names.emplace_back("replenished-cycle");
  return names;
}

AutomatonFile example_automaton(const std::string& name, std::uint64_t every) {
  if (name == "replenished-cycle") {
    AutomatonFile file = example_automaton("marginal-cycle");
    file.word.clear();
    for (std::uint64_t cycle = 0; cycle < every; ++cycle) {
      file.word.push_back(0);
      file.word.push_back(cycle + 1 == every ? 2 : 1);
    }
    return file;
  }
  for (const Named& example : kExamples) {
    if (name == example.name) return parse_automaton(example.toml, name);
  }
  wrong_use("an example must be one of {}, not '{}'", fmt::join(example_names(), ", "), name);
}

}  // namespace shellgame
