#include "shellgame/beliefs/running_belief.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter_failure.h"
#include "shellgame/passes/permutation_vector.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Up to here a table for every permutation is small, and all threads share it; beyond, moves are
// passes without tables.
constexpr std::size_t kMostTabledVariables = 6;

// The values of all variables in all orders, made once for each number of variables.
std::span<const std::uint8_t> values_of_orders(std::size_t n) {
  static std::mutex mutex;
  static std::array<std::vector<std::uint8_t>, RunningBelief::kMostVariables + 1> tables;
  const std::scoped_lock lock(mutex);
  std::vector<std::uint8_t>& table = tables[n];
  if (table.empty() && n > 0) {
    std::vector<std::uint8_t> order(n);
    std::iota(order.begin(), order.end(), std::uint8_t{0});
    do {
      table.insert(table.end(), order.begin(), order.end());
    } while (std::ranges::next_permutation(order).found);
  }
  return table;
}

std::uint32_t bits_of(std::span<const ValueId> values) {
  std::uint32_t bits = 0;
  for (const ValueId value : values) bits |= 1u << value;
  return bits;
}

}  // namespace

RunningBelief::RunningBelief(std::size_t variables) : n_(variables) {
  if (variables == 0 || variables > kMostVariables)
    wrong_use("a belief that runs beside a stream needs 1 to {} variables, not {}", kMostVariables,
              variables);
  values_ = values_of_orders(n_);
  mass_.resize(values_.size() / n_);
  next_.resize(mass_.size());
}

void RunningBelief::read(const Program& piece, std::span<const RevealMark> marks,
                         std::vector<std::vector<double>>& predictions,
                         std::vector<std::vector<double>>* marginals) {
  predictions.clear();
  if (marginals != nullptr) marginals->clear();
  std::size_t next = 0;  // mark
  const auto ask = [&](std::uint32_t event) {
    if (next < marks.size() && marks[next].event == event)
      predictions.push_back(predict(marks[next++].variable));
  };
  for (std::uint32_t i = 0; i < piece.events().size(); ++i) {
    const Event& event = piece.events()[i];
    if (event.kind == EventKind::kAssign || event.kind == EventKind::kStart) {
      const auto variables = piece.variables(event);
      const auto values = piece.values(event);
      if (begun_)
        wrong_use("variables must be assigned before the first command, and '{}' is assigned later",
                  piece.names().variable(variables[0]));
      start_.push_back({{variables.begin(), variables.end()}, {values.begin(), values.end()}});
      continue;
    }
    const bool evidence = event.kind == EventKind::kPrint || event.kind == EventKind::kAssert;
    if (!evidence && !is_command(event.kind)) continue;
    if (!begun_) begin(piece);
    if (event.kind == EventKind::kPrint) {
      // From left to right, each value given those before it.
      for (std::size_t part = 0; part < event.count; ++part) {
        ask(i);
        reveal(piece, event, part, 1u << piece.values(event)[part]);
      }
    } else if (event.kind == EventKind::kAssert) {
      ask(i);
      while (next < marks.size() && marks[next].event == i) {
        predictions.push_back(predictions.back());
        ++next;
      }
      const std::uint32_t named = bits_of(piece.values(event));
      const bool unequal = static_cast<Relation>(event.form) == Relation::kUnequal;
      reveal(piece, event, 0, unequal ? ~named : named);
    } else {
      command(piece, event);
      if (marginals == nullptr) continue;
      std::vector<double>& all = marginals->emplace_back();
      for (VariableId v = 0; v < n_; ++v) {
        const std::vector<double> row = predict(v);
        all.insert(all.end(), row.begin(), row.end());
      }
    }
  }
}

void RunningBelief::begin(const Program& piece) {
  begun_ = true;
  const StateSpace space = StateSpace::orders(piece.shared_names());
  if (start_.size() == 1) {
    std::ranges::fill(mass_, 1.0 / static_cast<double>(mass_.size()));
    return;
  }
  const std::vector<Permutation> orders = orders_of(space, start_);
  for (const Permutation order : orders)
    mass_[order.rank(static_cast<int>(n_))] = 1.0 / static_cast<double>(orders.size());
}

void RunningBelief::command(const Program& piece, const Event& event) {
  ++steps_;
  if (event.kind == EventKind::kChoose) return mix(piece.table().mixtures[event.at], {});
  if (event.kind == EventKind::kCall)
    return mix(piece.definition(event).mixture, piece.variables(event));
  const Permutation permutation = to_permutation(piece.table().permutes[event.at]);
  if (!permutation.is_identity()) mix(std::array{permutation}, std::array{1.0});
}

void RunningBelief::mix(const Mixture& mixture, std::span<const VariableId> arguments) {
  std::vector<double>& weights = weights_[mixture.thresholds];
  if (weights.empty()) {
    // Probabilities as they are written: differences of decimals, exact until they are rounded.
    Rational before;
    for (const double threshold : mixture.thresholds) {
      const Rational now = rational_from(threshold);
      weights.push_back(to_double(now - before));
      before = now;
    }
    weights.push_back(to_double(Rational(1) - before));
  }
  std::vector<Permutation> outcomes;
  for (Permute outcome : mixture.outcomes) {
    if (!arguments.empty()) {
      for (VariableId& v : outcome.targets) v = arguments[v];
      for (VariableId& v : outcome.sources) v = arguments[v];
    }
    outcomes.push_back(to_permutation(outcome));
  }
  mix(outcomes, weights);
}

void RunningBelief::mix(std::span<const Permutation> outcomes, std::span<const double> weights) {
  if (n_ > kMostTabledVariables) {
    shellgame::mix<double>(static_cast<int>(n_), Acts::kPositions, outcomes, weights, mass_.data(),
                           next_.data());
  } else {
    std::ranges::fill(next_, 0.0);
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      const double weight = weights[k];
      const std::uint32_t* from = table(outcomes[k]).data();
      for (std::size_t q = 0; q < mass_.size(); ++q) next_[q] += weight * mass_[from[q]];
    }
  }
  mass_.swap(next_);
}

void RunningBelief::reveal(const Program& piece, const Event& event, std::size_t part,
                           std::uint32_t allowed) {
  ++steps_;
  const VariableId variable = piece.variables(event)[part];
  double left = 0;
  for (std::size_t q = 0; q < mass_.size(); ++q) {
    if (((allowed >> values_[q * n_ + variable]) & 1) == 0) mass_[q] = 0;
    left += mass_[q];
  }
  if (left == 0)
    throw ZeroEvidence(steps_, symbol_name(piece, event, part, Prints::kByVariable), false, "fp64");
  for (double& mass : mass_) mass /= left;
}

std::vector<double> RunningBelief::predict(VariableId variable) const {
  std::vector<double> sums(n_);
  for (std::size_t q = 0; q < mass_.size(); ++q) sums[values_[q * n_ + variable]] += mass_[q];
  const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (double& sum : sums) sum /= all;
  return sums;
}

const IndexTable& RunningBelief::table(Permutation permutation) {
  auto& known = tables_[permutation];
  if (!known) known = predecessors(static_cast<int>(n_), permutation, Acts::kPositions);
  return *known;
}

}  // namespace shellgame
