#include "shellgame/beliefs/smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"
#include "shellgame/system/memory_promise.h"
#include "shellgame/system/saturating.h"

namespace shellgame {
namespace {

using Vector = std::vector<double>;
using ExactFilter = JointFilter<DenseStore<double>>;

// The symbols of an automaton as plain numbers that can be read both ways.
class Steps {
 public:
  explicit Steps(const Automaton& automaton)
      : automaton_(automaton), compiled_(automaton.symbols().size()) {}

  // Weights of the reveal; empty if there is none.
  const Vector& weights(SymbolId symbol) { return compiled(symbol).weights; }

  using Chances = std::vector<std::pair<StateId, double>>;
  // Where a reset goes, whatever the state was; null if the symbol is none.
  const Chances* prior(SymbolId symbol) {
    const Compiled& c = compiled(symbol);
    return c.prior.empty() ? nullptr : &c.prior;
  }

  // Calls visit(q, q', probability) for every transition; the symbol is no reset.
  template <class Visit>
  void each_transition(SymbolId symbol, const Visit& visit) {
    const Compiled& c = compiled(symbol);
    const std::size_t size = automaton_.space().size();
    for (std::size_t k = 0; k < c.sources.size(); ++k) {  // shuffles: q' from sources[k][q']
      const double weight = c.outcome_weights[k];
      for (StateId to = 0; to < size; ++to)
        visit(c.sources[k] ? (*c.sources[k])[to] : to, to, weight);
    }
    if (!c.sources.empty()) return;
    for (StateId q = 0; q < size; ++q) {
      if (c.offsets.empty()) {
        visit(q, q, 1.0);
        continue;
      }
      for (std::uint32_t k = c.offsets[q]; k < c.offsets[q + 1]; ++k)
        visit(q, c.targets[k], c.target_weights[k]);
    }
  }

 private:
  struct Compiled {
    bool ready = false;
    Vector weights, outcome_weights, target_weights;
    std::vector<std::shared_ptr<const IndexTable>> sources;
    std::vector<std::uint32_t> offsets;
    std::vector<StateId> targets;
    Chances prior;
  };

  const Compiled& compiled(SymbolId id) {
    Compiled& c = compiled_[id];
    if (c.ready) return c;
    c.ready = true;
    const Symbol& symbol = automaton_.symbol(id);
    const StateSpace& space = automaton_.space();
    const auto size = static_cast<StateId>(space.size());
    if (!symbol.policy.empty() || !symbol.is_transition_only()) {
      for (StateId q = 0; q < size; ++q)
        c.weights.push_back(to_double(reveal_weight(space, symbol, q)));
    }
    if (const auto* shuffle = std::get_if<Shuffle>(&symbol.transition)) {
      // Outcomes that are the same permutation are one transition.
      std::map<Permutation, Rational> outcomes;
      for (std::size_t k = 0; k < shuffle->outcomes.size(); ++k)
        outcomes[acting(shuffle->outcomes[k], shuffle->acts)] += shuffle->weights[k];
      for (const auto& [s, weight] : outcomes) {
        c.sources.push_back(s.is_identity()
                                ? nullptr
                                : predecessors(static_cast<int>(space.degree()), s, shuffle->acts));
        c.outcome_weights.push_back(to_double(weight));
      }
    } else if (const auto* reset = std::get_if<Reset>(&symbol.transition)) {
      for (const auto& [target, weight] : expand(space, reset->prior)) {
        if (weight != 0) c.prior.emplace_back(target, to_double(weight));
      }
    } else if (!symbol.is_reveal_only()) {
      for (StateId q = 0; q < size; ++q) {
        c.offsets.push_back(static_cast<std::uint32_t>(c.targets.size()));
        for (const auto& [target, weight] : successors(space, symbol, q)) {
          c.targets.push_back(target);
          c.target_weights.push_back(to_double(weight));
        }
      }
      c.offsets.push_back(static_cast<std::uint32_t>(c.targets.size()));
    }
    return c;
  }

  const Automaton& automaton_;
  std::vector<Compiled> compiled_;
};

void divide_by_sum(Vector& v) {
  double sum = 0;
  for (double x : v) sum += x;
  if (!(sum > 0)) fail("smoothing has underflowed: what comes later leaves no state in fp64");
  for (double& x : v) x /= sum;
}

// One step of an exact filter whose evidence is known to be possible.
void advance(const Automaton& automaton, SymbolId symbol, DenseStore<double>& store) {
  store.reveal(symbol);
  store.divide(store.total());
  if (const auto* reset = std::get_if<Reset>(&automaton.symbol(symbol).transition)) {
    store.put(reset->prior);
  } else {
    store.move(symbol);
  }
}

}  // namespace

void check_smoothing(const Automaton& automaton) { check_tabled(automaton, "smoothing"); }

double smooth(const Automaton& automaton, std::span<const SymbolId> word,
              const std::function<void(std::size_t, const std::vector<double>&)>& visit) {
  check_smoothing(automaton);
  const std::size_t length = word.size();
  const std::size_t stride =
      std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(length))));
  const std::size_t vectors = length / stride + stride + 8;  // kept, of a stretch, and some more
  const MemoryPromise promise(
      saturating_multiply(std::uint64_t{sizeof(double)}, vectors, automaton.space().size()),
      fmt::format("smoothing of {} symbols with {} states", length, automaton.space().size()));
  // Forward, keeping the belief at every stride-th step to start again from.
  ExactFilter filter(automaton, FilterOptions{});
  std::vector<Vector> kept;
  for (std::size_t t = 0; t < length; ++t) {
    if (t % stride == 0) kept.push_back(filter.store().mass());
    filter.step(word[t]);
  }
  const double log_evidence = filter.log_norm();

  // Backward: later(q) = p(symbols from t on | q_t = q), up to a factor.
  Steps steps(automaton);
  Vector later(automaton.space().size(), 1.0), earlier(later.size());
  std::vector<Vector> beliefs;  // of the current stretch
  DenseStore<double> again(automaton);
  visit(length, filter.belief());
  for (std::size_t t = length; t-- > 0;) {
    if (beliefs.empty()) {
      const std::size_t first = t / stride * stride;
      again.set_mass(kept.back());
      kept.pop_back();
      for (std::size_t k = first; k <= t; ++k) {
        beliefs.push_back(again.mass());
        advance(automaton, word[k], again);
      }
    }
    if (const auto* prior = steps.prior(word[t])) {  // it forgets: the same from every state
      double same = 0;
      for (const auto& [to, probability] : *prior) same += probability * later[to];
      std::ranges::fill(earlier, same);
    } else {
      std::ranges::fill(earlier, 0.0);
      steps.each_transition(word[t], [&](StateId from, StateId to, double probability) {
        earlier[from] += probability * later[to];
      });
    }
    const Vector& weights = steps.weights(word[t]);
    for (std::size_t q = 0; q < weights.size(); ++q) earlier[q] *= weights[q];
    later.swap(earlier);
    Vector posterior = std::move(beliefs.back());
    beliefs.pop_back();
    // States that cannot be reached must not take the place of those that can.
    for (std::size_t q = 0; q < later.size(); ++q) {
      if (posterior[q] == 0) later[q] = 0;
    }
    divide_by_sum(later);
    for (std::size_t q = 0; q < posterior.size(); ++q) posterior[q] *= later[q];
    divide_by_sum(posterior);
    visit(t, posterior);
  }
  return log_evidence;
}

std::vector<std::vector<double>> smoothed(const Automaton& automaton,
                                          std::span<const SymbolId> word) {
  std::vector<std::vector<double>> all(word.size() + 1);
  smooth(automaton, word, [&](std::size_t t, const Vector& p) { all[t] = p; });
  return all;
}

Path most_likely_path(const Automaton& automaton, std::span<const SymbolId> word) {
  check_tabled(automaton, "the most likely path");
  const std::size_t size = automaton.space().size();
  const MemoryPromise promise(
      saturating_multiply(std::uint64_t{sizeof(StateId)}, word.size(), size),
      fmt::format("the most likely path of {} symbols with {} states", word.size(), size));
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  Vector best(size, kNever), next(size);
  for (const auto& [state, weight] : expand(automaton.space(), automaton.start()))
    best[state] = std::log(to_double(weight));
  Steps steps(automaton);
  std::vector<StateId> from(word.size() * size);
  for (std::size_t t = 0; t < word.size(); ++t) {
    const Vector& weights = steps.weights(word[t]);
    for (std::size_t q = 0; q < weights.size(); ++q) best[q] += std::log(weights[q]);
    if (std::ranges::max(best) == kNever)
      throw ZeroEvidence(t + 1, automaton.symbol(word[t]).name, false, "fp64");
    std::ranges::fill(next, kNever);
    StateId* came = from.data() + t * size;
    if (const auto* prior = steps.prior(word[t])) {  // from the best state, the first of equals
      const auto first = std::ranges::max_element(best);
      for (const auto& [to, probability] : *prior) {
        next[to] = *first + std::log(probability);
        came[to] = static_cast<StateId>(first - best.begin());
      }
    } else {
      steps.each_transition(word[t], [&](StateId q, StateId to, double probability) {
        const double log = best[q] + std::log(probability);
        if (log > next[to] || (log == next[to] && log != kNever && q < came[to])) {
          next[to] = log;
          came[to] = q;
        }
      });
    }
    best.swap(next);
  }
  Path path;
  path.states.resize(word.size() + 1);
  const auto last = std::ranges::max_element(best);
  path.log_probability = *last;
  path.states.back() = static_cast<StateId>(last - best.begin());
  for (std::size_t t = word.size(); t-- > 0;) path.states[t] = from[t * size + path.states[t + 1]];
  return path;
}

}  // namespace shellgame
