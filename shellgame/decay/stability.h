// Where a recurrence breaks in finite precision: how fast its norm decays, when it should and when
// it does vanish, and from when on what is decoded from it is wrong, which comes earlier.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/filter.h"

namespace shellgame {

struct StabilityOptions {
  std::uint64_t cycles = 2000;  // how often the word is said
  double wrong_by = 0.01;       // total variation (for marginals the worst variable's)
  std::uint64_t curve = 0;      // keep the log norm of so many first symbols
};

// How one filter fared. Steps are symbols, counted from 1.
struct Survival {
  FilterOptions filter;
  // -log(smallest number) / decay rate: where a steadily decaying norm leaves the format.
  std::optional<double> predicted_step;
  std::optional<std::uint64_t> vanished_step;  // evidence that left nothing, or nothing to decode
  std::optional<std::uint64_t> overflow_step;  // a number too large for the format
  std::optional<std::uint64_t> wrong_step;     // the first decoded belief that is wrong by more
  double worst = 0;                            // total variation, until the end or the vanishing
};

struct StabilityReport {
  std::uint64_t steps = 0;  // symbols of the exact run
  // The decay of the representation per symbol in nats: for the joint one the mean of log s_t, the
  // top Lyapunov exponent of the products of T Z; for the marginal one the slope of the log of the
  // smallest row or column sum.
  double joint_rate = 0, least_survival = 1;
  std::optional<double> marginal_rate;  // order spaces
  double marginal_least = 0;            // the lowest log of a row or column sum on the way
  std::vector<Survival> filters;
  std::vector<double> log_norms, marginal_log_norms;  // as many as `curve`
};

// Says the word again and again to an exact filter (fp64, renormalised) and to all given ones.
StabilityReport measure_stability(const Automaton& automaton, const std::vector<SymbolId>& word,
                                  const std::vector<FilterOptions>& filters,
                                  const StabilityOptions& options);

// Cycles after which a number that starts at 1 and is halved each cycle by a linear filter is still
// above zero; stops at `most`.
std::uint64_t halvings_survived(const FilterOptions& filter, std::uint64_t most);

// Input-only gains g(symbol) = exp(-mean log s_t over this symbol's occurrences in a run).
std::vector<double> fitted_gains(const Automaton& automaton, const std::vector<SymbolId>& word,
                                 std::uint64_t cycles);

}  // namespace shellgame
