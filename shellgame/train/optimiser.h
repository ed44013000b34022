// What changes the parameters: AdamW for all, or Muon for the matrices inside blocks and AdamW for
// the rest, with the experiment's groups, clipped together.
#pragma once

#include <map>
#include <string>

#include "shellgame/models/model.h"
#include "shellgame/ops/adamw.h"
#include "shellgame/ops/muon.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

class Optimiser {
 public:
  Optimiser(const Model& model, const OptimiserSettings& settings);

  // One step; returns the norm of all gradients before clipping. If that is not finite, nothing was
  // changed.
  double step(double learning_rate);
  void clear_gradients();

  std::int64_t steps() const { return adamw_.steps(); }
  void set_steps(std::int64_t steps) { adamw_.set_steps(steps); }
  // Everything it remembers, by name (masters of 16-bit parameters too); tensors are shared, so
  // that a checkpoint can be read into them.
  std::map<std::string, at::Tensor> tensors() const;
  // The weights as they are before they are rounded to 16 bits, in the order of the model's
  // parameters; wider ones are the parameters themselves.
  std::vector<at::Tensor> master_weights() const;

 private:
  OptimiserSettings settings_;
  std::vector<std::string> adamw_names_, muon_names_;
  std::vector<bool> is_muons_;  // of the model's parameters
  AdamW adamw_;
  Muon muon_;
};

}  // namespace shellgame
