// The verdict of the experiment under uncertainty (docs/uncertainty.md), from files of results and
// a rule that was written down before them. E of a checkpoint is how much more of the right value
// it loses on cycles of uncertain commands (M5, M1) than on the worse of two controls (Z: nothing
// moves, D: all moves are known), at the primary number of cycles.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/evaluate/binomial.h"

namespace shellgame {

struct VerdictLevels {
  double eligible_miss = 0.02, eligible_regret = 0.01;
  std::uint64_t eligible_seeds = 8;
  double family = 0.025, supported = 0.1, nonlinear_miss = 0.05, supported_m1 = 0.05;
  double length = 0.1, equal = 0.05, belief = 0.05;
};

struct VerdictRule {
  std::vector<std::string> linear = {}, nonlinear = {}, others = {};
  std::uint64_t primary = 256;
  std::uint64_t trained = 32;  // commands of the uniform traces whose regret counts
  std::vector<std::uint64_t> early = {1, 4, 8};
  VerdictLevels levels = {};
  // Files of `shellgame evaluate --sweep`, beside the rule: one with the schedules' cells
  // (schedule, N, ending, miss), one with uniform traces (regret).
  struct Regime {
    std::string name = {}, cycle = {}, uniform = {};
  };
  std::vector<Regime> regimes = {};
};
// Throws InputError: which key, what must hold. Files are taken from the rule's folder.
VerdictRule read_verdict_rule(const std::string& file);

// One checkpoint. `l` is L, the mean probability of the wrong values, question c, at the primary N.
struct VerdictSeed {
  std::uint64_t seed = 0;
  double l_z = 0, l_d = 0, l_m5 = 0, l_m1 = 0;
  std::optional<double> l_a = {};  // question a, M5
  double early = 0;                // the largest L at the early cycles, in all four cells
  double early_controls = 0;       // the same in Z and D, and in M5 and M1 at the first of them
  double regret = 0;               // the mean over the uniform traces of the trained length
  bool eligible = false, by_controls = false;

  double control() const { return l_z > l_d ? l_z : l_d; }
  double e() const { return l_m5 - control(); }
  double e_m1() const { return l_m1 - control(); }
};

struct VerdictArm {
  std::string name = {};
  std::vector<VerdictSeed> seeds = {};
};

// A regime, judged on some of the seeds.
struct VerdictTest {
  struct Pair {
    std::string linear = {}, nonlinear = {};
    double p = 1, adjusted = 1;
    Bounds difference = {};  // 90 % interval of median E (linear) - median E (nonlinear)
  };
  struct Arm {
    std::string name = {};
    std::uint64_t seeds = 0, eligible = 0;
    bool learnt = false;
    // Medians over the seeds that are judged; nothing where there is none.
    std::optional<double> e = {}, e_m1 = {}, l_m5 = {}, control = {}, l_a = {};
    Bounds e_interval = {};  // 90 %
    double l_m5_upper = 1;   // of the median, 95 %
  };
  std::vector<Arm> arms = {};
  std::vector<Pair> pairs = {};
  std::vector<std::string> not_learnt = {};  // of the arms that decide
  bool supported = false, length = false, equal = false, belief = false;
  std::string verdict = {};  // "supported", "length", "not supported", "undecided", "not learnt"
};

struct VerdictRegime {
  std::string name = {};
  std::vector<VerdictArm> arms = {};
  VerdictTest eligible = {}, controls = {},
              all = {};  // judged on eligible seeds; by controls; on all
};

struct Verdict {
  std::vector<VerdictRegime> regimes = {};
  std::string words = {};  // over the regimes
  // The same, as sensitivity, with the seeds that are eligible by the controls, and with all.
  std::string with_controls = {}, with_all = {};
};

// Judges what was measured; `regimes` has name and arms.
Verdict give_verdict(const VerdictRule& rule, std::vector<VerdictRegime> regimes);
// Reads the files of the rule. A regime whose files are not there is left out. Throws InputError
// for cells that are missing.
std::vector<VerdictRegime> read_verdict_regimes(const VerdictRule& rule);

nlohmann::ordered_json to_json(const Verdict& verdict);
std::string to_text(const Verdict& verdict);

}  // namespace shellgame
