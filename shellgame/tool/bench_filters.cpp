// The part of `shellgame bench belief` that runs whole filters along traces, as users do.
#include <numeric>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tool/measure.h"

namespace shellgame {
namespace {

Task branching_task(const std::string& group, std::uint64_t commands, std::uint64_t spacing) {
  Task task;
  task.group = group;
  task.branching = true;
  task.moves = Moves::kSwaps;
  task.commands = commands;
  task.spacing = spacing;
  return task;
}

// Steps a second of one filter along the word again and again.
double steps_per_second(const ProgramWord& read, const FilterOptions& options, double seconds) {
  const auto filter = make_filter(read.automaton, options);
  for (SymbolId symbol : read.word) filter->step(symbol);  // symbols are compiled at first use
  return rate_of(seconds, [&] {
    for (SymbolId symbol : read.word) filter->step(symbol);
    return read.word.size();
  });
}

// Maybe-swaps of neighbours and reveals of single variables, for any n.
Automaton ring(std::size_t n) {
  std::vector<Symbol> symbols(2 * n);
  Distribution start;
  for (std::size_t v = 0; v < n; ++v) {
    const auto a = static_cast<VariableId>(v), b = static_cast<VariableId>((v + 1) % n);
    start.groups.push_back({{a}, {static_cast<ValueId>(v)}});
    symbols[v].transition =
        Shuffle{{{{a, b}, {b, a}}, {}}, {Rational(1, 2), Rational(1, 2)}, Acts::kPositions};
    symbols[n + v].reveal = Cells{{{a, {static_cast<ValueId>(v)}}}};
  }
  return Automaton(StateSpace::orders(std::make_shared<Names>(Names::standard(n))),
                   std::move(start), std::move(symbols));
}

Json bench_marginal(std::size_t n) {
  const Automaton automaton = ring(n);
  const auto filter = make_filter(automaton, {.kind = FilterKind::kMarginal});
  const double steps = rate_of(0.2, [&] {
    for (SymbolId s = 0; s < n; ++s) {
      filter->step(s);
      filter->step(static_cast<SymbolId>(n + s));
    }
    return 2 * n;
  });
  filter->step(0);
  const double decodes = rate_of(0.2, [&] {
    filter->step(static_cast<SymbolId>(n - 1));  // so that nothing is remembered
    return filter->predict(0).empty() ? 0 : 1;
  });
  return {{"n", n}, {"steps_per_s", steps}, {"ms_to_mix_and_decode", 1e3 / decodes}};
}

}  // namespace

Json bench_filters(int rounds, int largest) {
  set_thread_count(1);
  const Sampler sampler(branching_task("S5", 1000, 2));
  const ProgramWord read = word_of(sampler.sample(0, 0));
  std::vector<std::vector<double>> rates(3);
  for (int round = 0; round < rounds; ++round) {
    rates[0].push_back(steps_per_second(read, {}, 0.2));
    rates[1].push_back(steps_per_second(read, {.precision = Precision::kFp32}, 0.2));
    rates[2].push_back(steps_per_second(read, {.precision = Precision::kBf16}, 0.2));
  }
  Json report = {{"joint_n5_steps_per_s",
                  {{"what", "exact filter, one thread; two maybe-swaps, then a reveal"},
                   {"fp64", median(rates[0])},
                   {"fp32", median(rates[1])},
                   {"bf16 (rounded after every operation)", median(rates[2])}}}};
  for (std::size_t n : {8u, 64u, 512u}) report["marginal"].push_back(bench_marginal(n));
  if (largest >= 12) {
    // A trace of S_12: 4 commands and 2 reveals in one vector of 1.9 GB (swaps need no second).
    set_thread_count(default_thread_count());
    const ProgramWord large = word_of(Sampler(branching_task("S12", 4, 2)).sample(0, 0));
    const auto start = Clock::now();
    const auto filter = make_filter(large.automaton, {.precision = Precision::kFp32});
    const double made = seconds_since(start);
    for (SymbolId symbol : large.word) filter->step(symbol);
    const std::vector<double> row = filter->predict(0);
    report["joint_n12_fp32"] = {
        {"steps", large.word.size()},
        {"seconds_to_start", made},
        {"seconds_a_step", (seconds_since(start) - made) / static_cast<double>(large.word.size())},
        {"sum_of_a_prediction", std::accumulate(row.begin(), row.end(), 0.0)}};
  }
  return report;
}

}  // namespace shellgame
