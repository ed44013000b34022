#include "shellgame/kernels/head_norm.h"

#include "shellgame/kernels/head_norm_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/delta_cases.h"

namespace shellgame {
namespace {

using namespace delta_cases;

struct Options {
  bool gate = true, weight = true;
  GateActivation activation = GateActivation::kSilu;
};
const std::vector<Options> kKinds = {
    {}, {.gate = false}, {.weight = false, .activation = GateActivation::kSigmoid}};

Tensors<double> random_inputs(const HeadSizes& sizes, const Options& options) {
  const std::size_t size = sizes.rows * sizes.heads * sizes.width;
  Tensors<double> x;
  x["x"] = normal(size, 1);
  if (options.gate) x["gate"] = normal(size, 2);
  if (options.weight) x["weight"] = normal(sizes.width, 3);
  return x;
}

template <class Real>
GatedNormInput<Real> input_of(const HeadSizes& sizes, const Options& options, Tensors<Real>& x) {
  const std::size_t stride = sizes.heads * sizes.width;
  return {x.rows("x", stride), x.rows("gate", stride), x.pointer("weight"), Real(1e-3),
          options.activation};
}

// The gated norm's y and gradients, and the l2 norm's as y2, d_x2.
template <class Real>
Tensors<Real> run(const HeadSizes& sizes, const Options& options, Tensors<Real> x) {
  constexpr bool kFast = std::is_same_v<Real, float>;
  const Real poison = kFast ? Real(kPoison) : Real(0);
  const std::size_t stride = sizes.heads * sizes.width, size = x["x"].size();
  const std::vector<double> dy = normal(size, 10);
  const std::vector<Real> loss(dy.begin(), dy.end());
  const RowView<const Real> losses{loss.data(), stride};
  Tensors<Real> result;
  for (const char* name : {"y", "y2", "d_x2"}) result[name].assign(size, poison);
  for (const auto& [name, values] : x) result["d_" + name].assign(values.size(), poison);
  const GatedNormInput<Real> in = input_of(sizes, options, x);
  const GatedNormGradients<Real> gradients{losses, result.rows("d_x", stride),
                                           result.rows("d_gate", stride),
                                           result.pointer("d_weight")};
  const RowView<Real> y = result.rows("y", stride), y2 = result.rows("y2", stride);
  const RowView<Real> dx2 = result.rows("d_x2", stride);
  if constexpr (kFast) {
    gated_norm_forward(sizes, in, y);
    gated_norm_backward(sizes, in, gradients);
    l2_norm_forward(sizes, in.x, kL2Epsilon, y2);
    l2_norm_backward(sizes, in.x, kL2Epsilon, losses, dx2);
  } else {
    gated_norm_forward_reference(sizes, in, y);
    gated_norm_backward_reference(sizes, in, gradients);
    l2_norm_forward_reference<Real>(sizes, in.x, Real(1e-6), y2);
    l2_norm_backward_reference<Real>(sizes, in.x, Real(1e-6), losses, dx2);
  }
  return result;
}

TEST(HeadNormReference, GradientsAgreeWithComplexSteps) {
  const HeadSizes sizes{3, 2, 5};
  const std::size_t stride = sizes.heads * sizes.width;
  for (const Options& options : kKinds) {
    const Tensors<double> x = random_inputs(sizes, options);
    const std::vector<double> loss = normal(x.at("x").size(), 10);
    const Tensors<double> got = run<double>(sizes, options, x);
    const auto total = [&](const std::vector<Complex>& y) {
      Complex sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * loss[i];
      return sum;
    };
    expect_complex_step(x, got, [&](Tensors<Complex>& stepped) {
      std::vector<Complex> y(loss.size());
      gated_norm_forward_reference<Complex>(sizes, input_of(sizes, options, stepped),
                                            {y.data(), stride});
      return total(y);
    });
    Tensors<double> only_x, only_gradient;
    only_x["x"] = x.at("x");
    only_gradient["d_x"] = got.at("d_x2");
    expect_complex_step(only_x, only_gradient, [&](Tensors<Complex>& stepped) {
      std::vector<Complex> y(loss.size());
      l2_norm_forward_reference<Complex>(sizes, stepped.rows("x", stride), 1e-6,
                                         {y.data(), stride});
      return total(y);
    });
  }
}

TEST(HeadNorm, AgreesWithTheReferenceOnEveryTarget) {
  for (const HeadSizes& sizes :
       std::vector<HeadSizes>{{300, 2, 32}, {5, 3, 20}, {1, 1, 1}, {130, 1, 128}, {7, 2, 3}})
    for (const Options& options : kKinds) {
      const Tensors<double> x = random_inputs(sizes, options);
      const Tensors<double> wanted = run<double>(sizes, options, x);
      on_every_target([&] {
        // One value over its own norm has a gradient of almost nothing.
        expect_all_close(run<float>(sizes, options, converted<float>(x)), wanted,
                         sizes.width == 1 ? 100 : 1);
      });
    }
}

TEST(HeadNorm, AnyNumberOfThreadsGivesTheSameBits) {
  const HeadSizes sizes{500, 2, 24};
  const Tensors<float> x = converted<float>(random_inputs(sizes, {}));
  expect_same_for_any_threads([&] { return run<float>(sizes, {}, x); });
}

TEST(HeadNorm, WrongUseIsRefused) {
  std::vector<float> values(64);
  EXPECT_THROW(l2_norm_forward({0, 1, 4}, {values.data(), 4}, 1e-6f, {values.data(), 4}),
               UsageError);
  EXPECT_THROW(gated_norm_forward({1, 1, 4}, {}, {values.data(), 4}), UsageError);
}

}  // namespace
}  // namespace shellgame
