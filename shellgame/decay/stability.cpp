#include "shellgame/decay/stability.h"

#include <algorithm>
#include <cmath>

#include "shellgame/automata/example_automata.h"

namespace shellgame {
namespace {

double total_variation(const std::vector<double>& a, const std::vector<double>& b,
                       std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += std::abs(a[i] - b[i]);
  return sum / 2;
}

// One filter under test beside the exact one.
class Runner {
 public:
  Runner(const Automaton& automaton, const FilterOptions& options)
      : filter_(make_filter(automaton, options)), n_(automaton.space().degree()) {
    result.filter = options;
  }

  bool alive() const { return filter_ != nullptr; }

  void step(SymbolId symbol, const Filter& exact, double wrong_by) {
    const std::uint64_t now = exact.steps();
    try {
      filter_->step(symbol);
      const double difference = distance(exact);
      result.worst = std::max(result.worst, difference);
      if (!(difference <= wrong_by) && !result.wrong_step) result.wrong_step = now;
    } catch (const ZeroEvidence&) {
      end(result.vanished_step, now);
    } catch (const NothingToDecode&) {
      end(result.vanished_step, now);
    } catch (const NumberTooLarge&) {
      end(result.overflow_step, now);
    }
  }

  double log_norm() const { return filter_->log_norm(); }

  Survival result;

 private:
  double distance(const Filter& exact) const {
    if (result.filter.kind != FilterKind::kMarginal)
      return total_variation(filter_->belief(), exact.belief(), 0, exact.belief().size());
    const std::vector<double> mine = filter_->marginals(), truth = exact.marginals();
    double most = 0;
    for (std::size_t v = 0; v < n_; ++v)
      most = std::max(most, total_variation(mine, truth, v * n_, n_));
    return most;
  }

  void end(std::optional<std::uint64_t>& step, std::uint64_t now) {
    step = now;
    if (!result.wrong_step) result.wrong_step = now;
    filter_.reset();
  }

  std::unique_ptr<Filter> filter_;
  std::size_t n_;
};

}  // namespace

StabilityReport measure_stability(const Automaton& automaton, const std::vector<SymbolId>& word,
                                  const std::vector<FilterOptions>& filters,
                                  const StabilityOptions& options) {
  StabilityReport report;
  const auto exact = make_filter(automaton);
  std::vector<Runner> runners;
  for (const FilterOptions& filter : filters) runners.emplace_back(automaton, filter);
  // The marginal recurrence's own decay, as long as doubles hold it.
  std::unique_ptr<Filter> marginal;
  try {
    marginal = make_filter(automaton, {.kind = FilterKind::kMarginal});
  } catch (const UsageError&) {  // not an automaton that it can follow
  }
  // Of the marginal one: after each cycle, or after each symbol of a word that is said once.
  std::vector<double> decay;
  const std::size_t stride = options.cycles == 1 ? 1 : word.size();
  for (std::uint64_t cycle = 0; cycle < options.cycles; ++cycle) {
    for (SymbolId symbol : word) {
      report.least_survival = std::min(report.least_survival, exact->step(symbol).survival);
      ++report.steps;
      for (Runner& runner : runners) {
        if (runner.alive()) runner.step(symbol, *exact, options.wrong_by);
      }
      if (marginal) marginal->step(symbol);
      if (marginal && report.steps % stride == 0) {
        decay.push_back(marginal->log_norm());
        report.marginal_least = std::min(report.marginal_least, decay.back());
        if (!(decay.back() > -600)) marginal.reset();  // near the end of what a double holds
      }
      if (report.log_norms.size() < options.curve) {
        report.log_norms.push_back(exact->log_norm());
        if (marginal) report.marginal_log_norms.push_back(marginal->log_norm());
      }
    }
  }
  report.joint_rate = exact->log_norm() / static_cast<double>(report.steps);
  if (decay.size() > 1) {
    // From the middle to the end: the beginning is not yet periodic.
    const std::size_t half = decay.size() / 2;
    report.marginal_rate =
        (decay.back() - decay[half]) / static_cast<double>((decay.size() - 1 - half) * stride);
    if (decay.size() - 1 == half) report.marginal_rate = 0;
  }
  for (Runner& runner : runners) {
    Survival& result = runner.result;
    const double rate = result.filter.kind == FilterKind::kMarginal
                            ? report.marginal_rate.value_or(0)
                            : report.joint_rate;
    const bool linear =
        result.filter.kind == FilterKind::kLinear || result.filter.kind == FilterKind::kMarginal;
    // A rate that has not led far below is noise.
    const bool decays = rate * static_cast<double>(report.steps) < -10;
    if (linear && decays && !result.filter.hard_resets) {
      result.predicted_step =
          std::log(smallest_positive(result.filter.precision, result.filter.flush)) / rate;
    }
    report.filters.push_back(result);
  }
  return report;
}

std::uint64_t halvings_survived(const FilterOptions& options, std::uint64_t most) {
  const AutomatonFile file = example_automaton("halving");
  const auto filter = make_filter(file.automaton, options);
  for (std::uint64_t cycle = 0; cycle < most; ++cycle) {
    filter->step(file.word[0]);
    // Zero is a support without the state that the next reveal asks for.
    if (options.kind == FilterKind::kLog ? filter->belief()[0] == 0 : filter->state()[0] == 0)
      return cycle;
  }
  return most;
}

std::vector<double> fitted_gains(const Automaton& automaton, const std::vector<SymbolId>& word,
                                 std::uint64_t cycles) {
  const auto exact = make_filter(automaton);
  std::vector<double> sums(automaton.symbols().size()), counts(sums.size());
  for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
    for (SymbolId symbol : word) {
      sums[symbol] += std::log(exact->step(symbol).survival);
      ++counts[symbol];
    }
  }
  std::vector<double> gains;
  for (std::size_t s = 0; s < sums.size(); ++s)
    gains.push_back(counts[s] > 0 ? std::exp(-sums[s] / counts[s]) : 1);
  return gains;
}

}  // namespace shellgame
