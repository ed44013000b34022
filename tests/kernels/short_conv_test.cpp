#include "shellgame/kernels/short_conv.h"

#include "shellgame/kernels/short_conv_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/delta_cases.h"

namespace shellgame {
namespace {

using namespace delta_cases;

struct Options {
  bool silu = true, bias = true, states = true;
};

Tensors<double> random_inputs(const ShortConvSizes& sizes, const Options& options) {
  const auto [B, T, channels, W] = sizes;
  Tensors<double> x;
  x["x"] = normal(B * T * channels, 1);
  x["weights"] = normal(channels * W, 2);
  if (options.bias) x["bias"] = normal(channels, 3);
  if (options.states) x["state"] = normal(B * channels * W, 4);
  return x;
}

template <class Real>
ShortConvInput<Real> input_of(const ShortConvSizes& sizes, const Options& options,
                              Tensors<Real>& x) {
  return {x.rows("x", sizes.channels), x.pointer("weights"), x.pointer("bias"), x.pointer("state"),
          options.silu};
}

template <class Real>
Tensors<Real> run(const ShortConvSizes& sizes, const Options& options, Tensors<Real> x) {
  const auto [B, T, channels, W] = sizes;
  constexpr bool kFast = std::is_same_v<Real, float>;
  const Real poison = kFast ? Real(kPoison) : Real(0);
  const std::vector<double> dy = normal(B * T * channels, 10),
                            dstate = normal(B * channels * W, 11);
  const std::vector<Real> loss_y(dy.begin(), dy.end()), loss_state(dstate.begin(), dstate.end());
  Tensors<Real> result;
  result["y"].assign(B * T * channels, poison);
  result["state"].assign(B * channels * W, poison);
  for (const auto& [name, values] : x) result["d_" + name].assign(values.size(), poison);
  const ShortConvInput<Real> in = input_of(sizes, options, x);
  const ShortConvOutput<Real> out{result.rows("y", channels), result.pointer("state")};
  const ShortConvGradients<Real> gradients{
      {loss_y.data(), channels},   loss_state.data(),        result.rows("d_x", channels),
      result.pointer("d_weights"), result.pointer("d_bias"), result.pointer("d_state")};
  if constexpr (kFast) {
    short_conv_forward(sizes, in, out);
    short_conv_backward(sizes, in, gradients);
  } else {
    short_conv_forward_reference(sizes, in, out);
    short_conv_backward_reference(sizes, in, gradients);
  }
  return result;
}

TEST(ShortConvReference, GradientsAgreeWithComplexSteps) {
  const ShortConvSizes sizes{2, 6, 3, 4};
  for (const Options& options : {Options{}, Options{false, false, true}}) {
    const Tensors<double> x = random_inputs(sizes, options);
    expect_complex_step(x, run<double>(sizes, options, x), [&](Tensors<Complex>& stepped) {
      std::vector<Complex> y(sizes.B * sizes.T * sizes.channels);
      std::vector<Complex> state(sizes.B * sizes.channels * sizes.W);
      short_conv_forward_reference<Complex>(sizes, input_of(sizes, options, stepped),
                                            {{y.data(), sizes.channels}, state.data()});
      const std::vector<double> dy = normal(y.size(), 10), dstate = normal(state.size(), 11);
      Complex loss = 0;
      for (std::size_t i = 0; i < y.size(); ++i) loss += y[i] * dy[i];
      for (std::size_t i = 0; i < state.size(); ++i) loss += state[i] * dstate[i];
      return loss;
    });
  }
}

TEST(ShortConv, AgreesWithTheReferenceOnEveryTarget) {
  for (const ShortConvSizes& sizes : std::vector<ShortConvSizes>{{2, 150, 70, 4},
                                                                 {1, 64, 128, 4},
                                                                 {2, 65, 5, 2},
                                                                 {1, 1, 9, 4},
                                                                 {1, 3, 16, 7},
                                                                 {1, 2, 1, 1}})
    for (const Options& options : {Options{}, Options{false, false, false}}) {
      const Tensors<double> x = random_inputs(sizes, options);
      const Tensors<double> wanted = run<double>(sizes, options, x);
      on_every_target(
          [&] { expect_all_close(run<float>(sizes, options, converted<float>(x)), wanted); });
    }
}

TEST(ShortConv, AnyNumberOfThreadsGivesTheSameBits) {
  const ShortConvSizes sizes{3, 90, 150, 4};
  const Tensors<float> x = converted<float>(random_inputs(sizes, {}));
  expect_same_for_any_threads([&] { return run<float>(sizes, {}, x); });
}

TEST(ShortConv, WrongUseIsRefused) {
  std::vector<float> values(64);
  ShortConvInput<float> in{{values.data(), 4}, values.data()};
  const ShortConvOutput<float> out{{values.data(), 4}};
  EXPECT_THROW(short_conv_forward({1, 0, 4, 4}, in, out), UsageError);
  EXPECT_THROW(short_conv_forward({1, 1, 4, 0}, in, out), UsageError);
  EXPECT_THROW(short_conv_forward({1, 1, 4, 4}, {}, out), UsageError);
  EXPECT_THROW(short_conv_forward({1, 1, 4, 4}, in, {}), UsageError);
}

}  // namespace
}  // namespace shellgame
