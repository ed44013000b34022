#include "shellgame/beliefs/filter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"
#include "shellgame/beliefs/order_store.h"
#include "shellgame/beliefs/sparse_store.h"
#include "shellgame/system/saturating.h"

namespace shellgame {
namespace {

struct Known {
  FilterKind kind;
  const char* name;
};
constexpr Known kKinds[] = {{FilterKind::kExact, "exact"},       {FilterKind::kLog, "log"},
                            {FilterKind::kLinear, "linear"},     {FilterKind::kGain, "gain"},
                            {FilterKind::kRational, "rational"}, {FilterKind::kSparse, "sparse"},
                            {FilterKind::kMarginal, "marginal"}};

// A symbol may be the two lines of a print; an error is one.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, 1, " -> ");
  return text;
}

// So many orders are quicker in a hash than in a vector over all of 9 variables.
constexpr std::uint64_t kFewOrders = 1 << 14;

// How many orders the start or a reset puts at once.
std::uint64_t most_orders_at_once(const Automaton& automaton) {
  const auto count = [](const Distribution& distribution) {
    std::uint64_t orders = std::max<std::uint64_t>(1, distribution.states.size());
    for (const ShuffledValues& group : distribution.groups)
      orders = saturating_multiply(orders, factorial(static_cast<int>(group.values.size())));
    return orders;
  };
  std::uint64_t most = count(automaton.start());
  for (const Symbol& symbol : automaton.symbols()) {
    if (const auto* reset = std::get_if<Reset>(&symbol.transition))
      most = std::max(most, count(reset->prior));
  }
  return most;
}

}  // namespace

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const Known& known : kKinds) names.emplace_back(known.name);
  return names;
}

FilterKind parse_filter(std::string_view name) {
  for (const Known& known : kKinds) {
    if (name == known.name) return known.kind;
  }
  wrong_use("a filter must be one of {}, not '{}'", fmt::join(filter_names(), ", "), name);
}

std::string_view to_string(FilterKind kind) {
  return std::ranges::find(kKinds, kind, &Known::kind)->name;
}

ZeroEvidence::ZeroEvidence(std::uint64_t step, const std::string& symbol, bool underflow,
                           const std::string& format)
    : FilterFailure(
          underflow
              ? fmt::format("step {}: '{}' leaves no mass, because it has underflowed in {}: the "
                            "evidence is possible",
                            step, one_line(symbol), format)
              : fmt::format("step {}: '{}' is impossible: no state that can be reached allows it",
                            step, one_line(symbol))),
      step_(step),
      underflow_(underflow) {}

NumberTooLarge::NumberTooLarge(std::uint64_t step, const std::string& format)
    : FilterFailure(fmt::format("step {}: the state holds a number that is too large for {}", step,
                                format)) {}

std::vector<double> Filter::belief() const {
  wrong_use("this filter holds no belief over whole states");
}

std::vector<double> Filter::marginals() const {
  std::vector<double> all;
  for (std::size_t v = 0; v < automaton_.space().degree(); ++v) {
    const std::vector<double> row = predict(static_cast<VariableId>(v));
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

double Filter::chance(SymbolId symbol) const {
  const Symbol& asked = automaton_.symbol(symbol);
  if (asked.policy.empty()) {
    if (asked.is_transition_only()) return 1;
    const auto* cells = std::get_if<Cells>(&asked.reveal);
    if (cells != nullptr && cells->cells.size() == 1) {
      const std::vector<double> row = predict(cells->cells[0].variable);
      double sum = 0;
      for (ValueId value : cells->cells[0].values) sum += row[value];
      return sum;
    }
  }
  const std::vector<double> all = belief();
  double sum = 0;
  for (StateId q = 0; q < all.size(); ++q) {
    if (all[q] != 0) sum += all[q] * to_double(reveal_weight(automaton_.space(), asked, q));
  }
  return sum;
}

void Filter::throw_zero_evidence(const std::string& format, bool underflow) const {
  throw ZeroEvidence(history_.size(), automaton_.symbol(history_.back()).name, underflow, format);
}

void Filter::note(SymbolId symbol) {
  if (symbol >= automaton_.symbols().size())
    wrong_use("a symbol must be one of {}, not number {}", automaton_.symbols().size(), symbol);
  history_.push_back(symbol);
}

void Filter::require_variable(VariableId variable) const {
  const StateSpace& space = automaton_.space();
  if (!space.is_orders())
    wrong_use("only states that are orders of values have variables, and these are listed");
  if (variable >= space.degree())
    wrong_use("a variable must be one of {}, not number {}", space.degree(), variable);
}

bool Filter::is_possible() const {
  // Truth values along the same history, on whatever store holds the states. Nothing if a hash
  // would have more than `most` entries.
  const auto run = [&](auto store, std::uint64_t most) -> std::optional<bool> {
    for (SymbolId symbol : history_) {
      store.reveal(symbol);
      if (store.vanished()) return false;
      if (const auto* reset = std::get_if<Reset>(&automaton_.symbol(symbol).transition)) {
        store.put(reset->prior);
      } else {
        store.move(symbol);
      }
      if constexpr (requires { store.entries(); }) {
        if (store.entries() > most) return std::nullopt;
      }
    }
    return true;
  };
  const StateSpace& space = automaton_.space();
  if (!space.is_orders() || space.degree() <= kMostTabled)
    return *run(DenseStore<Possible>(automaton_), UINT64_MAX);
  if (space.degree() > 12) return *run(SparseStore<Possible>(automaton_), UINT64_MAX);
  if (most_orders_at_once(automaton_) <= kFewOrders) {
    if (const auto known = run(SparseStore<Possible>(automaton_), kFewOrders)) return *known;
  }
  return *run(OrderStore<float>(automaton_, OrderNumbers::kTruth), UINT64_MAX);
}

std::unique_ptr<Filter> make_filter(const Automaton& automaton, const FilterOptions& options) {
  switch (options.kind) {
    case FilterKind::kExact:
    case FilterKind::kLinear:
    case FilterKind::kGain:
      return make_dense_filter(automaton, options);
    case FilterKind::kLog:
      return make_log_filter(automaton, options);
    case FilterKind::kRational:
      return make_rational_filter(automaton, options);
    case FilterKind::kSparse:
      return make_sparse_filter(automaton, options);
    case FilterKind::kMarginal:
      break;
  }
  return make_marginal_filter(automaton, options);
}

std::vector<double> symbol_chances(const Automaton& automaton, const std::vector<double>& belief) {
  std::vector<double> chances(automaton.symbols().size());
  const StateSpace& space = automaton.space();
  for (StateId q = 0; q < belief.size(); ++q) {
    if (belief[q] == 0) continue;
    if (automaton.has_policy()) {
      for (SymbolId s = 0; s < chances.size(); ++s)
        chances[s] += belief[q] * to_double(automaton.symbol(s).policy[q]);
      continue;
    }
    std::vector<SymbolId> allowed;
    for (SymbolId s = 0; s < chances.size(); ++s) {
      if (allows(space, automaton.symbol(s), q)) allowed.push_back(s);
    }
    for (SymbolId s : allowed) chances[s] += belief[q] / static_cast<double>(allowed.size());
  }
  return chances;
}

}  // namespace shellgame
