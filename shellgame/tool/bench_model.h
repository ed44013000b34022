// Parts of `shellgame bench model`. Times are in seconds; what is compared takes turns in the same
// rounds, and medians are reported.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/tool/run_learn.h"

namespace shellgame {

using BenchJson = nlohmann::ordered_json;

// FLOP a second of the best of the three forms (plain, one side transposed) at 1024 cubed, on all
// threads.
struct GemmPeak {
  double nn = 0, nt = 0, tn = 0;
  double best() const { return std::max({nn, nt, tn}); }
};
GemmPeak measure_gemm_peak();

// Runs each work once unmeasured (unless told), then all in turns; the median of each.
std::vector<double> take_turns(int rounds, const std::vector<std::function<void()>>& works,
                               bool warm_up = true);

BenchJson bench_kernels(const std::vector<std::string>& operations, int rounds);
BenchJson bench_steps(const std::vector<std::string>& cases, int rounds);
BenchJson bench_streaming(std::int64_t tokens);

}  // namespace shellgame
