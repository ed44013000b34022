// The space that a search draws from: the [tune] table of an experiment's file.
//   [tune]
//   select = "regret"                       # the lowest; or "accuracy", the highest
//   share = 0.25                            # of the steps of each stage, in a trial
//   [tune.space]
//   "optimiser.learning-rate" = [5e-4, 2e-3]          # values of a key
//   "optimiser.eps" = { from = 1e-9, to = 1e-6 }      # a range; scale = "linear" or, here, "log"
//   curriculum = [{ name = "long", set = ["stages.0.steps=900"] }, { name = "short" }]
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/text/number.h"

namespace shellgame {

// One thing that varies: choices, or a range.
struct TuneDimension {
  struct Choice {
    std::string name = {};                   // for people and files: "2e-3", "long"
    std::vector<std::string> settings = {};  // key=value
  };
  std::string name = {};
  std::vector<Choice> choices = {};  // empty: a range of the key `name`
  double from = 0, to = 0;
  bool log = true;
};

struct TuneSpace {
  std::string select = "regret";
  double share = 1;
  std::uint64_t seed = 100;   // of the first trial; the next has one more
  std::uint64_t count = 256;  // evaluated traces
  std::vector<TuneDimension> dimensions = {};

  bool has_ranges() const;
  // How many different draws there are, for a space without ranges; saturates.
  std::uint64_t combinations() const;
};

// What one trial draws.
struct TuneDraw {
  std::vector<std::pair<std::string, std::string>> names = {};  // dimension, choice
  std::vector<std::string> settings = {};
};

// Reads [tune]. Throws InputError: which key, what must hold.
TuneSpace read_tune_space(const nlohmann::json& table, const std::string& file);

// The draws of trials 0 to count - 1, a pure function of the space: every arm gets the same.
// Without ranges no draw comes twice, and count must be at most combinations().
std::vector<TuneDraw> draw_trials(const TuneSpace& space, std::uint64_t count);

// The numbers of [tune], for whoever lists them.
std::vector<DeclaredNumber> tune_numbers();

inline constexpr NumberBounds kTrialBounds = NumberBounds::whole(1, 10'000);

}  // namespace shellgame
