// Losses by name, as `loss` of an experiment says it: what each asks of a batch, its keys, and the
// function that computes it. A new one is a file with that function (models/loss.h is what it sees)
// and its two lines here; a plug-in calls register_loss (train/loss_function.h). No Torch here: the
// tool reads experiments without the functions.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/episodes/batcher.h"
#include "shellgame/text/number.h"

namespace shellgame {

class LossHead;      // models/loss.h
struct LossTargets;  // models/loss.h
struct Loss;         // models/loss.h

using LossSettings = std::map<std::string, double>;  // by the name of the key, all of them
// The mean over targets.counted() targets; Model::loss is where it is called.
using LossComputation = Loss (*)(const LossHead&, const LossTargets&, const LossSettings&);

struct LossKey {
  std::string name;
  double usual = 0;
  NumberBounds bounds = NumberBounds::real(0, 1);
};

struct LossDeclaration {
  std::string name;
  AskedTargets asks = {};
  bool others_may_go = false;      // takes `other-tokens = false`
  std::vector<LossKey> keys = {};  // loss = { name = "NAME", KEY = 0.5 }
};

// What an experiment chose.
struct LossChoice {
  std::string name = "all";
  AskedTargets asks = {};
  LossSettings settings = {};
};

Loss plain_cross_entropy(const LossHead&, const LossTargets&, const LossSettings&);

inline std::vector<LossDeclaration> built_in_losses() {
  return {{.name = "all"},
          {.name = "reveals", .asks = {.others = false}},
          {.name = "beliefs", .asks = {.beliefs = true}, .others_may_go = true}};
}
inline std::vector<std::pair<std::string, LossComputation>> built_in_loss_computations() {
  return {{"all", plain_cross_entropy},
          {"reveals", plain_cross_entropy},
          {"beliefs", plain_cross_entropy}};
}

// In the order in which they came.
std::vector<std::string> loss_names();
// Null: there is none of this name.
const LossDeclaration* find_loss(const std::string& name);
// Throws UsageError if the name is taken. What was found before stays where it is.
void declare_loss(LossDeclaration declaration);

}  // namespace shellgame
