#include "shellgame/ops/activation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// flash-linear-attention's definitions.
TEST(Activation, EachIsItsDefinition) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::map<std::string, std::function<double(double)>> definitions = {
      {"identity", [](double x) { return x; }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"sqrelu", [](double x) { return x > 0 ? x * x : 0.0; }},
      {"silu", [&](double x) { return x * sigmoid(x); }},
      {"swish", [&](double x) { return x * sigmoid(x); }},
      {"sigmoid", sigmoid},
      {"logsigmoid", [&](double x) { return std::log(sigmoid(x)); }},
      {"elu", [](double x) { return x > 0 ? x + 1 : std::exp(x); }},
      {"gelu",
       [](double x) { return 0.5 * x * (1 + std::tanh(0.79788456 * x * (1 + 0.044715 * x * x))); }},
      {"tanh", [](double x) { return std::tanh(x); }}};
  for (const auto& [name, definition] : definitions) {
    for (const double x : {-5.0, -1.5, -0.3, 0.2, 1.7, 4.0}) {
      const double y = activate(name, at::full({1}, x, at::kDouble)).item<double>();
      EXPECT_NEAR(y, definition(x), 1e-8) << name << " of " << x;
    }
  }
  EXPECT_THROW(activate("powlu", at::zeros({1})), UsageError);
}

}  // namespace
}  // namespace shellgame
