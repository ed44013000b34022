// A probabilistic finite-state automaton with state reveals, PFSA-SR (Q, Sigma, delta, rho, q0),
// after section 5 of the paper. At step t the environment, which sees the state q_t, chooses a
// symbol s with q_t in rho(s); then q_{t+1} is drawn from delta(q_t, s). Who sees only the symbols
// holds a belief: reveal first, then transition (see beliefs/).
//
// The states are either listed by name or all n! orders of n values on n variables; the latter are
// never listed, and their transitions and reveals keep their structure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shellgame/groups/acts.h"
#include "shellgame/groups/permutation.h"
#include "shellgame/numbers/rational.h"
#include "shellgame/programs/names.h"
#include "shellgame/programs/program.h"

namespace shellgame {

using StateId = std::uint32_t;  // 12! fits
using SymbolId = std::uint32_t;

// Q. State k of an order space is the permutation of rank k that sends each variable to its value.
class StateSpace {
 public:
  static StateSpace listed(std::vector<std::string> names);
  static StateSpace orders(std::shared_ptr<const Names> names);

  bool is_orders() const { return names_ != nullptr; }
  std::size_t degree() const { return names_ ? names_->size() : 0; }  // n of an order space
  const Names& names() const { return *names_; }
  const std::shared_ptr<const Names>& shared_names() const { return names_; }
  // How many states there are. Throws UsageError above 12 variables: those are never numbered.
  std::uint64_t size() const;
  std::string name(StateId state) const;  // "rain" or "[2,1,3]"
  std::optional<StateId> find(const std::string& name) const;

 private:
  std::vector<std::string> listed_;
  std::shared_ptr<const Names> names_;
};

// Variables whose values are known but not who has which: every order is equally likely. One
// variable with one value is a certain assignment.
struct ShuffledValues {
  std::vector<VariableId> variables;
  std::vector<ValueId> values;
};

// A distribution over the states: single states with their probabilities, or (order spaces only)
// independent groups of shuffled values that together have all variables.
struct Distribution {
  std::vector<std::pair<StateId, Rational>> states;
  std::vector<ShuffledValues> groups;
};

// rho: which states a symbol allows. `weights` are soft observations (as in an IO-HMM or a POMDP).
struct AllStates {};
struct StateSet {
  std::vector<StateId> states;  // sorted
};
struct StateWeights {
  std::vector<Rational> weights;  // one a state, at least 0
};
struct Cell {  // the variable has one of the values
  VariableId variable = 0;
  std::vector<ValueId> values;  // sorted
};
struct Cells {  // all of them hold (order spaces only)
  std::vector<Cell> cells;
};
using Reveal = std::variant<AllStates, StateSet, StateWeights, Cells>;

// delta: where a state goes.
struct Stay {};
struct Kernel {  // column-stochastic and sparse: state q goes to targets[offsets[q] ..
                 // offsets[q+1])
  std::vector<std::uint32_t> offsets;
  std::vector<StateId> targets;
  std::vector<Rational> weights;
};
struct Shuffle {                  // a mixture of permutations (order spaces only)
  std::vector<Permute> outcomes;  // kPositions: new[targets[k]] = old[sources[k]]; kValues: the
                                  // value sources[k] becomes targets[k]
  std::vector<Rational> weights;
  Acts acts = Acts::kPositions;
};
struct Reset {  // whatever the state was, it is drawn anew: the gated reset of appendix B
  Distribution prior;
};
using Transition = std::variant<Stay, Kernel, Shuffle, Reset>;

struct Symbol {
  std::string name;
  Reveal reveal;
  Transition transition;
  // pi(symbol | state), one a state. With it the filter weights by the chance that the environment
  // says this symbol; without it the update is the paper's, which is Bayes' only where that chance
  // is equal for all states that the symbol allows. A likelihood has no place beside it.
  std::vector<Rational> policy;

  bool is_reveal_only() const { return std::holds_alternative<Stay>(transition); }
  bool is_transition_only() const { return std::holds_alternative<AllStates>(reveal); }
};

class Automaton {
 public:
  // Checks everything: every column sums to 1 exactly, every state is known, policies sum to 1 over
  // the symbols and allow only what rho allows. Throws UsageError that names symbol and state.
  Automaton(StateSpace space, Distribution start, std::vector<Symbol> symbols);

  const StateSpace& space() const { return space_; }
  const Distribution& start() const { return start_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Symbol& symbol(SymbolId id) const { return symbols_[id]; }
  std::optional<SymbolId> find_symbol(const std::string& name) const;
  bool has_policy() const { return has_policy_; }

  // The paper's special cases.
  bool is_deterministic() const;  // every transition goes to one state, the start is one state
  bool has_reveals() const;       // false and deterministic: a DFA; false: a WFA
  std::string kind() const;       // one sentence of the above, for people

  // Whether each symbol has one chance in all states that it allows, so that the paper's update is
  // Bayes': by the policy, or, where there is none, by its likelihood and if the environment says
  // each symbol that the state allows with the same chance.
  bool is_blind() const;

 private:
  StateSpace space_;
  Distribution start_;
  std::vector<Symbol> symbols_;
  bool has_policy_ = false;
};

// What the reveal of a symbol multiplies the state's mass with: its policy, else its weight, else 1
// or 0.
Rational reveal_weight(const StateSpace& space, const Symbol& symbol, StateId state);
// Whether rho allows the state.
bool allows(const StateSpace& space, const Symbol& symbol, StateId state);
// delta(state, symbol), with each target once, sorted.
std::vector<std::pair<StateId, Rational>> successors(const StateSpace& space, const Symbol& symbol,
                                                     StateId state);
// Every state of a distribution with its probability, sorted.
std::vector<std::pair<StateId, Rational>> expand(const StateSpace& space,
                                                 const Distribution& distribution);
// All orders that the groups allow, each as likely as the others. Groups of at most 10 values;
// throws Error where memory cannot hold all orders.
std::vector<Permutation> orders_of(const StateSpace& space,
                                   const std::vector<ShuffledValues>& groups);
// An outcome of a shuffle as a permutation s (see Acts), for at most 16 variables.
Permutation to_permutation(const Permute& outcome);

}  // namespace shellgame
