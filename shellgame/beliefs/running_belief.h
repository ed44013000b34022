// The exact belief along a program that comes piece by piece: what predictions() gives for a whole
// program, in constant memory. No automaton is made and nothing is rendered: events are applied as
// they are. For at most 8 variables, whose orders (40,320) fit a small vector.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/orders.h"
#include "shellgame/programs/program.h"
#include "shellgame/programs/render.h"

namespace shellgame {

class RunningBelief {
 public:
  static constexpr std::size_t kMostVariables = 8;
  // Throws UsageError for more variables.
  explicit RunningBelief(std::size_t variables);

  // Reads the next piece of the program. `predictions` gets one distribution over the values for
  // each mark of the piece, in their order, given all that was shown before the value; `marginals`
  // (may be null) gets n x n numbers, by variable and value, after each command. Throws
  // ZeroEvidence if the text contradicts itself; nothing may be read after that.
  void read(const Program& piece, std::span<const RevealMark> marks,
            std::vector<std::vector<double>>& predictions,
            std::vector<std::vector<double>>* marginals = nullptr);

 private:
  void begin(const Program& piece);
  void mix(const Mixture& mixture, std::span<const VariableId> arguments);
  void mix(std::span<const Permutation> outcomes, std::span<const double> weights);
  // Keeps the states whose value of the variable is in the bit set.
  void reveal(const Program& piece, const Event& event, std::size_t part, std::uint32_t allowed);
  void command(const Program& piece, const Event& event);
  std::vector<double> predict(VariableId variable) const;
  const IndexTable& table(Permutation permutation);

  std::size_t n_;
  bool begun_ = false;
  std::uint64_t steps_ = 0;  // commands and shown values so far
  std::vector<ShuffledValues> start_;
  std::vector<double> mass_, next_;
  std::span<const std::uint8_t> values_;  // of variable v in state q: values_[q * n + v]
  std::map<Permutation, std::shared_ptr<const IndexTable>> tables_;
  std::map<std::vector<double>, std::vector<double>> weights_;  // by thresholds
};

}  // namespace shellgame
