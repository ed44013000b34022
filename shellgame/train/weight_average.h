// The running mean of a model's weights over the steps of a stage: what single steps do to them by
// chance cancels. It trains nothing; evaluations and the model at the end are made with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shellgame/models/model.h"

namespace shellgame {

class WeightAverage {
 public:
  // A step moves the mean by 1 - decay of the way to the weights, or by one over the number of
  // steps where that is more: at first it is the plain mean. 0: the weights themselves, nothing is
  // kept.
  WeightAverage(const Model& model, double decay);

  // After a step: the model's weights, or others in their order (what 16-bit ones are rounded
  // from).
  void add();
  void add(const std::vector<at::Tensor>& weights);
  // A new stage: the mean begins anew with the next step.
  void restart() { steps_ = 0; }

  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  std::int64_t bytes() const;
  // By name, shared, so that a checkpoint can be read into them.
  std::map<std::string, at::Tensor> tensors() const;

  // While it lives, the model has the mean instead of its weights (once there is one).
  class Scope {
   public:
    explicit Scope(const WeightAverage& average);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const WeightAverage& average_;
    std::vector<at::Tensor> weights_;  // empty: there was no mean
  };

 private:
  const Model& model_;
  double decay_;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> means_;
};

}  // namespace shellgame
