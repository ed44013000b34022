#include "shellgame/probe/readout.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Readout, OneFeatureHasTheClosedForm) {
  // Centred x = -1, 0, 1 and y = -2, 0, 2: w = x y / (x x + penalty) = 4 / (2 + 2).
  const at::Tensor x = at::tensor({1.0, 2.0, 3.0}).unsqueeze(1);
  const at::Tensor y = at::tensor({3.0, 5.0, 7.0}).unsqueeze(1);
  const Ridge ridge = fit_ridge(x, y, 2);
  EXPECT_NEAR(ridge.weights.item<double>(), 1, 1e-12);
  EXPECT_NEAR(ridge.predict(at::full({1, 1}, 4.0)).item<double>(), 7, 1e-12);
}

TEST(Readout, MoreFeaturesThanSamplesGiveTheNormalEquationsOfTheRest) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({6, 9}, at::kDouble), y = at::randn({6, 2}, at::kDouble);
  const double penalty = 0.3;
  const at::Tensor centred = x - x.mean(0);
  const at::Tensor direct =
      at::linalg_solve(at::matmul(centred.t(), centred) + penalty * at::eye(9, at::kDouble),
                       at::matmul(centred.t(), y - y.mean(0)));
  const Ridge ridge = fit_ridge(x, y, penalty);
  EXPECT_LT((ridge.weights - direct).abs().max().item<double>(), 1e-10);
}

TEST(Readout, ALinearMapIsFoundAndExplainsWhatWasNotFitted) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({60, 5}, at::kDouble), map = at::randn({5, 3}, at::kDouble);
  const at::Tensor y = at::matmul(x, map) + 2;
  const Ridge ridge = fit_ridge(x.narrow(0, 0, 40), y.narrow(0, 0, 40));
  EXPECT_GT(explained(ridge, x.narrow(0, 40, 20), y.narrow(0, 40, 20)), 1 - 1e-9);
}

TEST(Readout, NoiseIsNotExplainedSinceThePenaltyGrows) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({80, 60}, at::kDouble), y = at::randn({80, 4}, at::kDouble);
  const Ridge ridge = fit_ridge(x.narrow(0, 0, 60), y.narrow(0, 0, 60));
  EXPECT_LT(explained(ridge, x.narrow(0, 60, 20), y.narrow(0, 60, 20)), 0.2);
  EXPECT_GT(explained(ridge, x.narrow(0, 60, 20), y.narrow(0, 60, 20)), -0.3);
}

TEST(Readout, ThePenaltyIsTheOneThatPredictsEachSampleBestFromAllOthers) {
  at::manual_seed(7);
  const at::Tensor x = at::randn({20, 12}, at::kDouble);
  const at::Tensor y = at::matmul(x, at::randn({12, 1}, at::kDouble)) + at::randn({20, 1});
  const auto left_out = [&](double penalty) {
    double sum = 0;
    for (std::int64_t i = 0; i < 20; ++i) {
      const auto others = [&](const at::Tensor& t) {
        return at::cat({t.narrow(0, 0, i), t.narrow(0, i + 1, 19 - i)});
      };
      const Ridge ridge = fit_ridge(others(x), others(y), penalty);
      sum += (ridge.predict(x.narrow(0, i, 1)) - y[i]).square().sum().item<double>();
    }
    return sum;
  };
  const double best = fit_ridge(x, y).penalty;
  EXPECT_LT(left_out(best), left_out(best * 10));
  EXPECT_LT(left_out(best), left_out(best / 10));
}

TEST(Readout, WrongShapesAndPenaltiesAreRefused) {
  at::manual_seed(7);
  EXPECT_THROW(fit_ridge(at::randn({3, 2}), at::randn({4, 1})), UsageError);
  EXPECT_THROW(fit_ridge(at::randn({3, 2}), at::randn({3, 1}), 0), UsageError);
}

}  // namespace
}  // namespace shellgame
