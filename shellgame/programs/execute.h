// Running a program here, without Python: states, hidden numbers, and whether the evidence fits.
// The hidden numbers are those that CPython would draw (see replay/), so that a trace made here
// replays there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shellgame/programs/program.h"
#include "shellgame/programs/tracked_state.h"
#include "shellgame/random/mersenne.h"

namespace shellgame {

// The value of each variable: a permutation of the values.
using State = std::vector<ValueId>;

// The hidden numbers of one trace, all from its python_seed s < 2^32: random() draws from
// random.seed(s), the environment variables LOAD_1, LOAD_2, ... from Random((1 << 32) + s), the
// service's calls from Random((2 << 32) + s).
class HiddenSources {
 public:
  explicit HiddenSources(std::uint32_t python_seed) : seed_(python_seed) {}
  double draw(Condition source) { return generator(source).random(); }
  // The order in which an unknown start takes its values: sample() for kRandom, the service's
  // start() for kService.
  std::vector<std::uint32_t> shuffle(Condition source, std::uint32_t size) {
    return generator(source).sample_all(size);
  }

 private:
  PythonRandom& generator(Condition source);  // seeded on first use: seeding costs more than a draw
  std::uint32_t seed_;
  std::unique_ptr<PythonRandom> generators_[3];  // 2.5 kB each, and most traces need none
};

// Whether a Print or Assert fits the state.
bool evidence_holds(const Program& program, const Event& event, const TrackedState& state);

struct Execution {
  State initial;
  std::vector<State> states;  // after each command
  // The first event whose evidence does not fit the state, if any.
  std::optional<std::size_t> contradiction;
};

// Runs the whole program. An uncertain program draws its hidden numbers from python_seed.
Execution execute(const Program& program, std::uint32_t python_seed = 0);

// Whether any event draws a hidden number.
bool is_uncertain(const Program& program);

}  // namespace shellgame
