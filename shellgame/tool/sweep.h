// Many runs of one experiment, as `shellgame sweep` and `shellgame quickstart` make them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

struct SweepOptions {
  std::string experiment, seeds = "0", run, format = "text", from;
  std::vector<std::string> settings, arms;  // no arms: all of the file's
  int jobs = 0;                             // 0: as many as cores allow
};

// Runs what is not complete yet, `threads` each, and gathers all results; also written to
// DIR/sweep.json (docs/formats.md).
nlohmann::ordered_json run_sweep(const SweepOptions& options, int threads);
void print_sweep(const nlohmann::ordered_json& all);

}  // namespace shellgame
