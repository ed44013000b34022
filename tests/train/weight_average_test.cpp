#include "shellgame/train/weight_average.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "../models/contract_cases.h"

namespace shellgame {
namespace {

Model averaged_model() { return Model(ModelConfig(contract_cases().front().config)); }

void set_all(const Model& model, double value) {
  const at::NoGradGuard no_gradients;
  for (const Parameter& parameter : model.parameters()) parameter.value.detach().fill_(value);
}

double first_weight(const Model& model) {
  return model.parameters().front().value.flatten()[0].item<double>();
}

double mean_now(const WeightAverage& average, const Model& model) {
  const WeightAverage::Scope scope(average);
  return first_weight(model);
}

// 1 / (1 - decay) = 4 steps of plain mean, then an exponential one.
TEST(WeightAverage, IsThePlainMeanAtFirstAndForgetsLater) {
  const Model model = averaged_model();
  WeightAverage average(model, 0.75);
  double mean = 0;
  for (int step = 1; step <= 9; ++step) {
    set_all(model, step * step);
    average.add();
    mean += (step * step - mean) * std::max(0.25, 1.0 / step);
    EXPECT_NEAR(mean_now(average, model), mean, 1e-5) << step;
    EXPECT_EQ(first_weight(model), step * step);  // the weights themselves are untouched
    if (step == 4) {
      EXPECT_NEAR(mean, (1 + 4 + 9 + 16) / 4.0, 1e-9);
    }
  }
}

TEST(WeightAverage, BeginsAnewWithAStage) {
  const Model model = averaged_model();
  WeightAverage average(model, 0.9);
  set_all(model, std::nan(""));
  average.add();
  average.restart();
  set_all(model, 3);
  EXPECT_EQ(mean_now(average, model), 3);  // none yet: the weights
  average.add();
  EXPECT_EQ(mean_now(average, model), 3);
}

TEST(WeightAverage, ZeroKeepsNothing) {
  const Model model = averaged_model();
  WeightAverage average(model, 0);
  set_all(model, 1);
  average.add();
  set_all(model, 2);
  EXPECT_EQ(mean_now(average, model), 2);
  EXPECT_TRUE(average.tensors().empty());
}

TEST(WeightAverage, OfSixteenBitsIsKeptInThirtyTwo) {
  Model model = averaged_model();
  model.to(at::kBFloat16);
  WeightAverage average(model, 0.5);
  set_all(model, 1);
  average.add();
  set_all(model, 1.0078125);  // the next bfloat16
  average.add();
  const at::Tensor before = average.tensors().begin()->second.clone();
  EXPECT_NEAR(before.flatten()[0].item<double>(), 1.00390625, 1e-7);
  mean_now(average, model);  // which rounds the model's numbers, not the mean's
  EXPECT_TRUE(average.tensors().begin()->second.equal(before));
}

// What the weights were rounded from is averaged, not what they were rounded to.
TEST(WeightAverage, TakesTheWeightsThatItIsGiven) {
  Model model = averaged_model();
  model.to(at::kBFloat16);
  WeightAverage average(model, 0.5);
  set_all(model, 1);
  std::vector<at::Tensor> masters;
  for (const Parameter& parameter : model.parameters())
    masters.push_back(at::full(parameter.value.sizes(), 1.001, at::kFloat));
  average.add(masters);
  average.add(masters);
  EXPECT_NEAR(average.tensors().begin()->second.flatten()[0].item<double>(), 1.001, 1e-6);
}

}  // namespace
}  // namespace shellgame
