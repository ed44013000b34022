// The paper's marginal recurrence H <- A_l H A_r + B on the n x n matrix of (variable, value):
//   mixing of positions  A_l = P_s, A_r = I, B = 0        (of values: A_r = P_s^T, A_l = I)
//   reveal of (i, j)     A_l = I - e_i e_i^T, A_r = I - e_j e_j^T, B = e_i e_j^T
// It is a relaxation: H holds each variable's distribution, not how they hang together. A reveal
// that leaves several values (assert != and in) zeroes single entries, which is linear in H but not
// of the paper's two-sided form. The decoder is Sinkhorn-Knopp, in double.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/sinkhorn.h"
#include "shellgame/numbers/decode.h"

namespace shellgame {
namespace {

constexpr std::size_t kMostMarginal = 4096;

template <class Real>
class MarginalFilter : public Filter {
 public:
  using Traits = NumberTraits<Real>;

  MarginalFilter(const Automaton& automaton, const FilterOptions& options)
      : Filter(automaton), options_(options), n_(automaton.space().degree()) {
    if (!automaton.space().is_orders() || n_ > kMostMarginal) {
      wrong_use(
          "the marginal filter needs orders of 1 to {} variables{}", kMostMarginal,
          automaton.space().is_orders() ? fmt::format(", not {}", n_) : ", not listed states");
    }
    for (const Symbol& symbol : automaton.symbols()) {
      if (!symbol.policy.empty() || (!std::holds_alternative<AllStates>(symbol.reveal) &&
                                     !std::holds_alternative<Cells>(symbol.reveal))) {
        wrong_use("symbol '{}': the marginal filter needs reveals of variables, without a policy",
                  symbol.name);
      }
      if (std::holds_alternative<Kernel>(symbol.transition)) {
        wrong_use("symbol '{}': the marginal filter needs shuffles and resets, not 'next'",
                  symbol.name);
      }
    }
    put(automaton.start());
  }

  StepReport step(SymbolId id) override {
    note(id);
    decoded_.clear();
    StepReport report;
    const Symbol& symbol = automaton().symbol(id);
    if (const auto* cells = std::get_if<Cells>(&symbol.reveal)) {
      for (const Cell& cell : cells->cells) reveal(cell, report);
    }
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) mix(*shuffle);
    if (const auto* reset = std::get_if<Reset>(&symbol.transition)) put(reset->prior);
    return report;
  }

  std::vector<double> predict(VariableId variable) const override {
    require_variable(variable);
    const std::vector<double>& all = decoded();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(variable * n_);
    return {first, first + static_cast<std::ptrdiff_t>(n_)};
  }
  std::vector<double> marginals() const override { return decoded(); }
  // Of all variables' distributions together, an upper bound of the joint one's.
  double entropy() const override { return entropy_of(decoded()); }
  // The smallest sum of a row or column: when it is zero nothing can be decoded any more.
  double log_norm() const override {
    std::vector<double> rows(n_), columns(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        rows[i] += plain(matrix_[i * n_ + j]);
        columns[j] += plain(matrix_[i * n_ + j]);
      }
    }
    return std::log(std::min(std::ranges::min(rows), std::ranges::min(columns)));
  }
  std::uint64_t support() const override {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(matrix_, [](const Real& x) { return !Traits::is_zero(x); }));
  }
  std::vector<double> state() const override {
    std::vector<double> result;
    for (const Real& x : matrix_) result.push_back(plain(x));
    return result;
  }

 private:
  Real& at(std::size_t i, std::size_t j) { return matrix_[i * n_ + j]; }

  void put(const Distribution& distribution) {
    matrix_.assign(n_ * n_, Real{});
    for (const ShuffledValues& group : distribution.groups) {
      const Real each = Traits::from(Rational(1, static_cast<unsigned long>(group.values.size())));
      for (VariableId variable : group.variables) {
        for (ValueId value : group.values) at(variable, value) = each;
      }
    }
    for (const auto& [state, weight] : distribution.states) {
      const Permutation order = Permutation::unrank(static_cast<int>(n_), state);
      for (std::size_t v = 0; v < n_; ++v)
        at(v, static_cast<std::size_t>(order(static_cast<int>(v)))) += Traits::from(weight);
    }
  }

  void reveal(const Cell& cell, StepReport& report) {
    double before = 0, after = 0;
    for (std::size_t j = 0; j < n_; ++j) before += plain(at(cell.variable, j));
    for (ValueId value : cell.values) after += plain(at(cell.variable, value));
    report.survival *= before > 0 ? after / before : 0;
    if (cell.values.size() == 1) {
      const std::size_t i = cell.variable, j = cell.values[0];
      if (Traits::is_zero(at(i, j))) ++report.zero_reveals;
      for (std::size_t k = 0; k < n_; ++k) at(i, k) = at(k, j) = Real{};
      at(i, j) = Traits::from(1);
      return;
    }
    if (after == 0) ++report.zero_reveals;
    std::size_t next = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      if (next < cell.values.size() && cell.values[next] == j) {
        ++next;
      } else {
        at(cell.variable, j) = Real{};
      }
    }
  }

  // Only the rows (or columns) that some outcome moves change.
  void mix(const Shuffle& shuffle) {
    const bool rows = shuffle.acts == Acts::kPositions;
    std::vector<std::uint16_t> changed;
    for (const Permute& outcome : shuffle.outcomes) {
      for (std::size_t k = 0; k < outcome.targets.size(); ++k) {
        if (outcome.targets[k] != outcome.sources[k]) changed.push_back(outcome.targets[k]);
      }
    }
    std::ranges::sort(changed);
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    old_.resize(changed.size() * n_);
    place_.resize(n_);
    for (std::size_t c = 0; c < changed.size(); ++c) {
      place_[changed[c]] = c;
      for (std::size_t j = 0; j < n_; ++j)
        old_[c * n_ + j] = rows ? at(changed[c], j) : at(j, changed[c]);
    }
    const bool certain = shuffle.outcomes.size() == 1;
    for (std::size_t k = 0; k < shuffle.outcomes.size(); ++k) {
      const Real weight = Traits::from(shuffle.weights[k]);
      source_.assign(changed.begin(), changed.end());
      const Permute& outcome = shuffle.outcomes[k];
      for (std::size_t i = 0; i < outcome.targets.size(); ++i) {
        if (outcome.targets[i] != outcome.sources[i])
          source_[place_[outcome.targets[i]]] = outcome.sources[i];
      }
      for (std::size_t c = 0; c < changed.size(); ++c) {
        const Real* from = &old_[place_[source_[c]] * n_];
        for (std::size_t j = 0; j < n_; ++j) {
          Real& to = rows ? at(changed[c], j) : at(j, changed[c]);
          const Real x = certain ? from[j] : Real(weight * from[j]);
          to = k == 0 ? x : Real(to + x);
        }
      }
    }
  }

  const std::vector<double>& decoded() const {
    if (decoded_.empty()) {
      decoded_ =
          sinkhorn(state(), n_, options_.sinkhorn_tolerance, options_.sinkhorn_rounds).matrix;
    }
    return decoded_;
  }

  FilterOptions options_;
  std::size_t n_;
  std::vector<Real> matrix_, old_;
  std::vector<std::size_t> place_;
  std::vector<std::uint16_t> source_;
  mutable std::vector<double> decoded_;
};

}  // namespace

std::unique_ptr<Filter> make_marginal_filter(const Automaton& automaton,
                                             const FilterOptions& options) {
  return with_number(options.precision, options.flush,
                     [&]<class Number>(std::type_identity<Number>) -> std::unique_ptr<Filter> {
                       return std::make_unique<MarginalFilter<Number>>(automaton, options);
                     });
}

}  // namespace shellgame
