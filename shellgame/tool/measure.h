// What the benchmarks share: time, medians, their options.
#pragma once

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/tool/command.h"

namespace shellgame {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Calls `work` (which returns how much it did) for about `seconds`; units a second.
template <class Work>
double rate_of(double seconds, const Work& work) {
  double done = 0;
  const auto start = Clock::now();
  do done += static_cast<double>(work());
  while (seconds_since(start) < seconds);
  return done / seconds_since(start);
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline constexpr NumberBounds kRoundBounds = NumberBounds::whole(1, 10'000);

// --rounds and --output.
template <class Options>
void add_rounds_and_output(CLI::App* command, Options& options) {
  add_number(command, "--rounds", options.rounds, kRoundBounds,
             "rounds in which all things take turns");
  command->add_option("-o,--output", options.output, "a JSON file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
}
template <class Options>
void add_python(CLI::App* command, Options& options) {
  command->add_option("--python", options.python, "the interpreter that runs the yardstick")
      ->type_name("PROGRAM")
      ->capture_default_str();
}

void add_bench_belief(CLI::App& bench);       // in bench_belief.cpp
Json bench_filters(int rounds, int largest);  // in bench_filters.cpp

}  // namespace shellgame
