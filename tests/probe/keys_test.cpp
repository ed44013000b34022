#include "shellgame/probe/keys.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

TEST(Keys, PrincipalPartsOfAnEllipseAreItsAxes) {
  // Points at +-3, +-1 along two orthogonal directions: variances 9 and 1, of four points.
  const double s = std::numbers::sqrt2 / 2;
  const at::Tensor points =
      at::tensor({3 * s, 3 * s, -3 * s, -3 * s, s, -s, -s, s}, at::kDouble).view({4, 2}) + 5;
  const PrincipalParts parts = principal_parts(points);
  ASSERT_EQ(parts.explained.size(), 2u);
  EXPECT_NEAR(parts.explained[0], 0.9, 1e-12);
  EXPECT_NEAR(parts.explained[1], 1, 1e-12);
  EXPECT_NEAR(parts.effective_rank, std::exp(-0.9 * std::log(0.9) - 0.1 * std::log(0.1)), 1e-12);
  EXPECT_EQ(parts.components(0.9), 1u);
  EXPECT_EQ(parts.components(0.95), 2u);
}

TEST(Keys, EquallySpreadKeysHaveFullEffectiveRank) {
  const at::Tensor unit = at::eye(6, at::kDouble);
  EXPECT_NEAR(principal_parts(at::cat({unit, -unit})).effective_rank, 6, 1e-9);
}

TEST(Keys, TheHeadsThatHoldTheSlotsOfExactModelsPermute) {
  for (const bool silu : {false, true}) {
    const Model model = exact_as_model({.variables = 4, .silu = silu});
    const auto report =
        probe_keys(model, probe_traces("group = 'S4'\ncommands = 32\nspacing = 4\n", 2).all());
    for (const auto& row : report.at("heads")) {
      const bool tracker = row.at("layer") == 1 && row.at("head") == 0;
      if (tracker) {
        EXPECT_LT(row.at("distance").get<double>(), 1e-4);
        EXPECT_LT(row.at("from_own").get<double>(), 1e-4);
        EXPECT_EQ(row.at("permutation"), 1.0);
        EXPECT_GT(row.at("reflecting").get<double>(), 0.2);
      } else {
        EXPECT_GT(row.at("from_own").get<double>(), 0.5) << row.dump();
      }
    }
  }
}

TEST(Keys, AMixerWithoutKeysIsRefusedInASentence) {
  EXPECT_THROW(probe_keys(untrained_model("lstm"),
                          probe_traces("group = 'S3'\ncommands = 4\nspacing = 1\n", 1).all()),
               UsageError);
}

}  // namespace
}  // namespace shellgame
