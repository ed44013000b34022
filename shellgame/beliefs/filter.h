// A filter turns the symbols of an automaton, one by one, into what is known about its state. All
// of them, exact or linear, joint or marginal, in any number format, have this one interface.
//
// The belief is p(q_t | symbols before t). A step conditions on the symbol's reveal first and moves
// along its transition then (the paper's equation for b_{t+1}). Evidence of probability zero throws
// ZeroEvidence, a number too large for the format NumberTooLarge; both leave the filter unusable
// (UsageError). No filter invents probability mass.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/automata/automaton.h"
#include "shellgame/beliefs/filter_failure.h"
#include "shellgame/numbers/precision.h"

namespace shellgame {

enum class FilterKind : std::uint8_t {
  kExact,     // b <- T Z b / |Z b|: renormalised at every step
  kLog,       // h <- T Z h in logarithms, never renormalised
  kLinear,    // h <- T Z h: the paper's joint linear recurrence, the norm carried along
  kGain,      // h <- g(symbol) T Z h: the same with a gain that depends on the symbol alone
  kRational,  // kExact in exact rational numbers
  kSparse,  // kExact on a hash of the reachable states: up to 16 variables while few are reachable
  kMarginal,  // the paper's n x n bilinear recurrence, decoded by Sinkhorn-Knopp
};
std::vector<std::string> filter_names();
FilterKind parse_filter(std::string_view name);  // throws UsageError
std::string_view to_string(FilterKind kind);

struct FilterOptions {
  FilterKind kind = FilterKind::kExact;
  Precision precision = Precision::kFp64;
  bool flush = false;  // subnormal results become zero
  // Linear filters: a reveal that leaves one state sets h <- e_q, and a reset sets h <- prior
  // (h <- 0 h + c, whose norm is 1), instead of T Z h, which carries the lost mass on.
  bool hard_resets = false;
  std::vector<double> gains = {};  // kGain: one a symbol
  // kMarginal: what the decoder's matrix may miss of doubly stochastic, and how long it may try.
  double sinkhorn_tolerance = 1e-12;
  int sinkhorn_rounds = 10'000;
};

struct StepReport {
  double survival = 1;     // s_t: the share of the belief that the reveal leaves
  bool recovered = false;  // a hard reset to a state whose mass had underflowed to zero
  // kMarginal: entries that were zero when a reveal set them to 1. The paper's recurrence does so
  // whatever was there: impossible evidence passes unless one looks here.
  std::uint32_t zero_reveals = 0;
};

class Filter {
 public:
  virtual ~Filter() = default;

  // Reveal, then transition.
  virtual StepReport step(SymbolId symbol) = 0;
  std::uint64_t steps() const { return history_.size(); }
  const Automaton& automaton() const { return automaton_; }

  // The belief as a probability of each state, decoded in double. Joint filters of numbered states.
  virtual std::vector<double> belief() const;
  // The probability of each value of one variable. Throws UsageError if there is no such variable,
  // as in listed states.
  virtual std::vector<double> predict(VariableId variable) const = 0;
  // n x n, by variable and value, one row after the other (order spaces).
  virtual std::vector<double> marginals() const;
  // The chance that the symbol's reveal holds (with a policy: that it is said) at this point.
  virtual double chance(SymbolId symbol) const;
  // Nats.
  virtual double entropy() const = 0;
  // log |h|_1; for renormalised filters the log of the product of all survival probabilities; for
  // the marginal one the log of the smallest sum of a row or column.
  virtual double log_norm() const = 0;
  // How many states (or matrix entries) are not zero.
  virtual std::uint64_t support() const = 0;
  // The numbers that the recurrence holds, undecoded, as doubles.
  virtual std::vector<double> state() const = 0;

 protected:
  explicit Filter(const Automaton& automaton) : automaton_(automaton) {}
  [[noreturn]] void throw_zero_evidence(const std::string& format, bool underflow) const;
  void note(SymbolId symbol);  // throws UsageError for a symbol that the automaton has not
  void require_variable(VariableId variable) const;
  // Whether the symbols so far can be said at all, by truth values alone. Of more than 8 variables
  // it needs half the memory of a vector of doubles: give the filter's own back before.
  bool is_possible() const;

 private:
  const Automaton& automaton_;
  std::vector<SymbolId> history_;
};

// Throws UsageError if the automaton is not for this kind of filter. The automaton must outlive it.
std::unique_ptr<Filter> make_filter(const Automaton& automaton, const FilterOptions& options = {});

// The exact filter that suits the automaton: sparse while few states are reachable, then dense.
std::unique_ptr<Filter> make_exact_filter(const Automaton& automaton);

// The probability that each symbol is said next: by the policy, or by the same chance for all
// symbols that the state allows.
std::vector<double> symbol_chances(const Automaton& automaton, const std::vector<double>& belief);

}  // namespace shellgame
