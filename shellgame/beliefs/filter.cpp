#include "shellgame/beliefs/filter.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"
#include "shellgame/beliefs/order_store.h"
#include "shellgame/beliefs/sparse_store.h"

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
    : Error(underflow
                ? fmt::format("step {}: '{}' leaves no mass, because it has underflowed in {}: the "
                              "evidence is possible",
                              step, symbol, format)
                : fmt::format("step {}: '{}' is impossible: no state that can be reached allows it",
                              step, symbol)),
      step_(step),
      underflow_(underflow) {}

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

void Filter::throw_zero_evidence(const std::string& format) const {
  throw ZeroEvidence(history_.size(), automaton_.symbol(history_.back()).name, is_possible(),
                     format);
}

bool Filter::is_possible() const {
  // Truth values along the same history, on whatever store holds the states.
  const auto run = [&](auto store) {
    for (SymbolId symbol : history_) {
      store.reveal(symbol);
      if (store.vanished()) return false;
      if constexpr (std::is_same_v<typename decltype(store)::number_type, double>)
        store.divide(store.total());
      if (const auto* reset = std::get_if<Reset>(&automaton_.symbol(symbol).transition)) {
        store.put(reset->prior);
      } else {
        store.move(symbol);
      }
    }
    return true;
  };
  const StateSpace& space = automaton_.space();
  if (space.is_orders() && space.degree() > 12) return run(SparseStore<Possible>(automaton_));
  // No truth values beside the vectors of many orders: there what survives renormalised doubles
  // counts as possible.
  if (space.is_orders() && space.degree() > kMostTabled) return run(OrderStore<double>(automaton_));
  return run(DenseStore<Possible>(automaton_));
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
