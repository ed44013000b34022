#include "shellgame/kernels/adamw.h"

#include <gtest/gtest.h>

#include "shellgame/kernels/adamw_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

struct Parameter {
  std::vector<double> value, mean, square;
  double learning_rate, decay;
};

TEST(Adamw, FollowsTheReferenceOverStepsOnEveryTarget) {
  testing::on_every_target([] {
    std::vector<Parameter> wanted;
    std::vector<std::vector<float>> value, mean, square;
    for (const std::size_t size : {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 40000}) {
      wanted.push_back({testing::random_values(size, 1), std::vector<double>(size),
                        std::vector<double>(size), size % 2 == 0 ? 1e-2 : 3e-3,
                        size % 3 == 0 ? 0.0 : 0.1});
      value.push_back(testing::to_float(wanted.back().value));
      mean.emplace_back(size);
      square.emplace_back(size);
    }
    for (std::int64_t step = 1; step <= 4; ++step) {
      const AdamwStep options = {0.9, 0.95, 1e-8, step, 0.7};
      std::vector<std::vector<float>> gradients;
      std::vector<AdamwParameter> parameters;
      for (std::size_t p = 0; p < wanted.size(); ++p) {
        const auto gradient = testing::random_values(
            wanted[p].value.size(), static_cast<unsigned>(10 * step) + static_cast<unsigned>(p));
        gradients.push_back(testing::to_float(gradient));
        reference::adamw(options, wanted[p].learning_rate, wanted[p].decay, gradient,
                         wanted[p].value, wanted[p].mean, wanted[p].square);
      }
      for (std::size_t p = 0; p < wanted.size(); ++p)
        parameters.push_back({value[p].data(), gradients[p].data(), mean[p].data(),
                              square[p].data(), static_cast<std::int64_t>(value[p].size()),
                              wanted[p].learning_rate, wanted[p].decay});
      adamw(parameters, options);
    }
    for (std::size_t p = 0; p < wanted.size(); ++p) {
      testing::expect_close(value[p], wanted[p].value, 1e-5, "value");
      testing::expect_close(mean[p], wanted[p].mean, 1e-5, "mean");
      testing::expect_close(square[p], wanted[p].square, 1e-5, "square");
    }
  });
}

TEST(Adamw, TheFirstStepMovesByTheLearningRate) {
  float value = 2, gradient = -5, mean = 0, square = 0;
  const AdamwParameter parameter = {&value, &gradient, &mean, &square, 1, 0.25, 0};
  adamw({&parameter, 1}, {0.9, 0.999, 0, 1, 1});
  EXPECT_FLOAT_EQ(value, 2.25F);
}

TEST(Adamw, TheNormIsThatOfAllGradientsOnEveryTarget) {
  const std::vector<float> a(100000, 3.0F), b(7, -4.0F);
  const GradientPart parts[] = {{a.data(), 100000}, {b.data(), 7}, {nullptr, 0}};
  testing::on_every_target(
      [&] { EXPECT_DOUBLE_EQ(gradient_norm(parts), std::sqrt(100000.0 * 9 + 7 * 16)); });
}

TEST(Adamw, BitsDoNotDependOnThreads) {
  const auto gradient = testing::to_float(testing::random_values(100000, 2));
  testing::expect_same_bits_on_any_threads([&] {
    auto value = testing::to_float(testing::random_values(100000, 1));
    std::vector<float> mean(value.size()), square(value.size());
    const AdamwParameter parameter = {
        value.data(), gradient.data(), mean.data(), square.data(), 100000, 1e-3, 0.1};
    adamw({&parameter, 1}, {});
    const GradientPart part = {gradient.data(), 100000};
    return std::vector<std::vector<float>>{
        value, mean, square, {static_cast<float>(gradient_norm({&part, 1}))}};
  });
}

}  // namespace
}  // namespace shellgame
