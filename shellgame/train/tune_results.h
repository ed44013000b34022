// What the trials of a search gave, as structs, as the JSON of tune.json (docs/formats.md), and as
// text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/train/sweep_results.h"
#include "shellgame/train/tune_space.h"

namespace shellgame {

struct TuneOptions {
  std::string experiment = {};  // a TOML file with [tune]
  std::string run = {};         // the directory of all trials
  std::vector<std::string> plugins = {};
  std::vector<std::string> arms = {};  // none: all of the file's
  std::uint64_t trials = 8;            // of each arm
  double budget = 0;         // CPU seconds of each arm, shared equally by its trials; 0: no limit
  int jobs = 0;              // 0: as many as cores allow
  std::string program = {};  // as SweepOptions::program
};

struct TuneTrial {
  std::string arm = {};  // "" where the file has none
  std::uint64_t trial = 0;
  TuneDraw draw = {};
  std::optional<double> score = {};  // the mean over the cells; none: failed
  bool cut = false;                  // by the budget
  SweepRow row = {};                 // what the run gave
  std::string failure = {};
};

struct TuneResults {
  std::string command = {}, experiment = {};
  TuneSpace space = {};
  std::uint64_t trials = 0;
  double budget = 0;
  std::vector<SweepJson> environments = {};
  std::vector<std::string> differences = {};
  std::vector<TuneTrial> all = {};  // arm by arm

  // The best trial of each arm, in the order of the arms; of equal ones the first. An arm whose
  // trials all failed has none.
  std::vector<const TuneTrial*> best() const;
};

// The command that makes these results again.
std::string tune_command(const TuneOptions& options);

SweepJson tune_json(const TuneResults& results);
std::string tune_text(const TuneResults& results);

// What tune.json says for a sweep.
struct TunedArms {
  std::map<std::string, std::vector<std::string>> settings = {};  // by arm
  std::vector<std::uint64_t> seeds = {};                          // of the trials
};
// Throws InputError.
TunedArms read_tuned_arms(const std::string& file);

}  // namespace shellgame
