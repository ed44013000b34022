// `shellgame bench model`: the machine's peak, then its parts.
#include "shellgame/tool/bench_model.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>

#include "shellgame/kernels/targets.h"
#include "shellgame/ops/gemm_peak.h"
#include "shellgame/system/blas_core.h"
#include "shellgame/system/files.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

using Clock = std::chrono::steady_clock;

// A turn of short work is many runs of it, so that what another one left in the caches weighs as
// little as in its own loop, which is also how the machine's peak is measured.
double seconds_of(const std::function<void()>& work) {
  constexpr double kTurn = 0.1;
  const auto start = Clock::now();
  double gone = 0;
  int runs = 0;
  while (gone < kTurn) {
    work();
    ++runs;
    gone = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return gone / runs;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::vector<double> take_turns(int rounds, const std::vector<std::function<void()>>& works,
                               bool warm_up) {
  std::vector<std::vector<double>> times(works.size());
  if (warm_up) {
    for (const auto& work : works) work();
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) times[i].push_back(seconds_of(works[i]));
  }
  std::vector<double> medians;
  for (std::vector<double>& each : times) {
    std::ranges::sort(each);
    medians.push_back(each[each.size() / 2]);
  }
  return medians;
}

void run_bench_model(const BenchModelOptions& options) {
  BenchJson result = {{"bench", "model"},
                      {"torch", TORCH_VERSION},
                      {"threads", thread_count()},
                      {"simd", simd_target_in_use()},
                      {"blas", blas_core_in_use()}};
  const GemmPeak peak = measure_gemm_peak();
  result["gemm_gflops"] = {{"nn", peak.nn * 1e-9}, {"nt", peak.nt * 1e-9}, {"tn", peak.tn * 1e-9}};
  if (has(options.parts, "kernels")) {
    result["kernels"] = bench_kernels(options.operations, options.rounds);
  }
  if (has(options.parts, "steps")) result["steps"] = bench_steps(options.cases, options.rounds);
  if (has(options.parts, "streaming")) {
    result["streaming"] = bench_streaming(options.stream_tokens);
  }
  if (has(options.parts, "evaluation")) result["evaluation"] = bench_evaluation(options.rounds);
  write_file(options.output, result.dump(1) + "\n");
}

}  // namespace shellgame
