// Parts of `shellgame bench model`. Times are in seconds; what is compared takes turns in the same
// rounds, and medians are reported.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/ops/gemm_peak.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {

using BenchJson = nlohmann::ordered_json;

// Runs each work once unmeasured (unless told), then all in turns; the median of each.
std::vector<double> take_turns(int rounds, const std::vector<std::function<void()>>& works,
                               bool warm_up = true);

BenchJson bench_kernels(const std::vector<std::string>& operations, int rounds);
BenchJson bench_steps(const std::vector<std::string>& cases, int rounds);
BenchJson bench_streaming(std::int64_t tokens);
BenchJson bench_evaluation(int rounds);

}  // namespace shellgame
