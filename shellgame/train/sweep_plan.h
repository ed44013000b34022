// The runs of a sweep: one experiment with many seeds and settings, each run in a directory of its
// own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

using SweepJson = nlohmann::ordered_json;

struct SweepOptions {
  std::string experiment = {};  // a TOML file
  std::vector<std::uint64_t> seeds = {0};
  std::string seeds_text = "0";            // as they were given: "0..4"
  std::string run = {};                    // the directory of all runs
  std::string from = {};                   // a model to start from; {seed} is the run's seed
  std::vector<std::string> plugins = {};   // of every run
  std::vector<std::string> settings = {};  // "key=a,b": each value, in every combination
  std::vector<std::string> arms = {};      // none: all of the file's
  std::string tuned = {};                  // tune.json: every arm gets the best settings found
  int jobs = 0;                            // 0: as many as cores allow
  // What is started for each run as `PROGRAM train ...`: the tool. Empty: this program, which must
  // understand that.
  std::string program = {};
};

struct SweepRun {
  std::vector<std::string> settings = {};  // of this run, key=value
  std::uint64_t seed = 0;
  std::string directory = {};
  std::string from = {};    // the model it starts from; "": weights are drawn
  std::string ending = {};  // why it failed; empty: complete
};

// All runs, those of the same settings side by side. Throws UsageError if two of them would have
// one directory, or if a setting is one that a sweep has an option for.
std::vector<SweepRun> plan_sweep(const SweepOptions& options);

// Throws if the experiment cannot be read with the run's settings, or if the run's directory holds
// a run of another experiment: its results are not those that are asked for.
void check_sweep_run(const SweepOptions& options, const SweepRun& run, int threads);

// The command that makes these results again; where to is the reader's choice.
std::string sweep_command(const SweepOptions& options);

}  // namespace shellgame
