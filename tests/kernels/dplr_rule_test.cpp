#include "shellgame/kernels/dplr_rule.h"

#include "shellgame/kernels/delta_rule_reference.h"
#include "shellgame/kernels/dplr_rule_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/delta_cases.h"

namespace shellgame {
namespace {

using namespace delta_cases;

// As RWKV-7 has them: b of unit length, a = -b times something in (0, 1), decays in (0.5, 1).
Tensors<double> random_inputs(const DeltaSizes& sizes) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t size = B * T * H * K;
  Tensors<double> x;
  x["q"] = normal(size, 1);
  x["w"] = normal(size, 2, 0.2);
  x["b"] = normal(size, 3, 1 / std::sqrt(double(K)));
  x["k"] = normal(size, 4);
  x["v"] = normal(B * T * H * V, 5);
  x["h0"] = normal(B * H * K * V, 6);
  for (double& w : x["w"]) w = -std::abs(w);
  x["a"] = normal(size, 7, 0.3);
  for (std::size_t i = 0; i < size; ++i)
    x["a"][i] = static_cast<double>(static_cast<float>(-std::abs(x["a"][i]) * x["b"][i]));
  return x;
}

template <class Real>
DplrRuleInput<Real> input_of(const DeltaSizes& sizes, Tensors<Real>& x) {
  const std::size_t keys = sizes.H * sizes.K;
  return {x.rows("q", keys), x.rows("w", keys), x.rows("a", keys),
          x.rows("b", keys), x.rows("k", keys), x.rows("v", sizes.H * sizes.V),
          x.pointer("h0"),   Real(0.5)};
}

template <class Real>
Tensors<Real> places(const DeltaSizes& sizes, const Tensors<double>& x, Real value) {
  Tensors<Real> result;
  result["o"].assign(sizes.B * sizes.T * sizes.H * sizes.V, value);
  result["ht"].assign(sizes.B * sizes.H * sizes.K * sizes.V, value);
  for (const auto& [name, values] : x) result["d_" + name].assign(values.size(), value);
  return result;
}

template <class Real>
DplrRuleGradients<Real> gradients_of(const DeltaSizes& sizes, const std::vector<Real>& d_o,
                                     const std::vector<Real>& dht, Tensors<Real>& result) {
  const std::size_t keys = sizes.H * sizes.K, values = sizes.H * sizes.V;
  return {{d_o.data(), values},     dht.data(),
          result.rows("d_q", keys), result.rows("d_w", keys),
          result.rows("d_a", keys), result.rows("d_b", keys),
          result.rows("d_k", keys), result.rows("d_v", values),
          result.pointer("d_h0")};
}

struct Losses {
  explicit Losses(const DeltaSizes& sizes)
      : o(normal(sizes.B * sizes.T * sizes.H * sizes.V, 20)),
        ht(normal(sizes.B * sizes.H * sizes.K * sizes.V, 21)) {}
  std::vector<double> o, ht;
};

Tensors<double> run_reference(const DeltaSizes& sizes, Tensors<double> x) {
  const Losses losses(sizes);
  Tensors<double> result = places(sizes, x, 0.0);
  const DplrRuleInput<double> in = input_of(sizes, x);
  dplr_rule_forward_reference<double>(sizes, in,
                                      {result.rows("o", sizes.H * sizes.V), result.pointer("ht")});
  dplr_rule_backward_reference<double>(sizes, in, gradients_of(sizes, losses.o, losses.ht, result));
  return result;
}

Tensors<float> run_fast(const DeltaSizes& sizes, const Tensors<double>& x) {
  const Losses losses(sizes);
  const std::vector<float> d_o(losses.o.begin(), losses.o.end());
  const std::vector<float> dht(losses.ht.begin(), losses.ht.end());
  Tensors<float> dense = converted<float>(x), result = places(sizes, x, kPoison);
  const DplrRuleInput<float> in = input_of(sizes, dense);
  std::vector<float> saved(dplr_rule_saved_size(sizes), kPoison);
  dplr_rule_forward(sizes, in, {result.rows("o", sizes.H * sizes.V), result.pointer("ht")},
                    saved.data());
  dplr_rule_backward(sizes, in, saved.data(), gradients_of(sizes, d_o, dht, result));
  return result;
}

TEST(DplrRuleReference, GradientsAgreeWithComplexSteps) {
  const DeltaSizes sizes{2, 8, 2, 5, 3};
  const Tensors<double> x = random_inputs(sizes);
  const Losses losses(sizes);
  expect_complex_step(x, run_reference(sizes, x), [&](Tensors<Complex>& stepped) {
    std::vector<Complex> o(losses.o.size()), ht(losses.ht.size());
    dplr_rule_forward_reference<Complex>(sizes, input_of(sizes, stepped),
                                         {{o.data(), sizes.H * sizes.V}, ht.data()});
    Complex loss = 0;
    for (std::size_t i = 0; i < o.size(); ++i) loss += o[i] * losses.o[i];
    for (std::size_t i = 0; i < ht.size(); ++i) loss += ht[i] * losses.ht[i];
    return loss;
  });
}

// a = -beta k, b = e^g k and beta k in place of k.
TEST(DplrRuleReference, HoldsTheDeltaRule) {
  const DeltaSizes sizes{1, 12, 2, 6, 4};
  const std::size_t keys = sizes.H * sizes.K;
  Tensors<double> x = random_inputs(sizes);
  std::vector<double> beta = normal(sizes.T * sizes.H, 30), o(x["v"].size()), wanted(o.size());
  DeltaRuleInput<double> rule;
  rule.q = x.rows("q", keys);
  rule.k = x.rows("b", keys);
  rule.v = x.rows("v", sizes.H * sizes.V);
  rule.gk = x.rows("w", keys);
  rule.beta = {beta.data(), sizes.H};
  rule.h0 = x.pointer("h0");
  rule.scale = 0.5;
  delta_rule_forward_reference<double>(sizes, rule, {{wanted.data(), sizes.H * sizes.V}, nullptr});
  Tensors<double> y = x;
  for (std::size_t i = 0; i < x["b"].size(); ++i) {
    const double k = x["b"][i];
    y["a"][i] = -beta[i / sizes.K] * k;
    y["b"][i] = std::exp(x["w"][i]) * k;
    y["k"][i] = beta[i / sizes.K] * k;
  }
  dplr_rule_forward_reference<double>(sizes, input_of(sizes, y),
                                      {{o.data(), sizes.H * sizes.V}, nullptr});
  EXPECT_LT(error_ratio(o, wanted), 1e-13);
}

TEST(DplrRule, AgreesWithTheReferenceOnEveryTarget) {
  for (const DeltaSizes& sizes : std::vector<DeltaSizes>{
           {1, 50, 2, 64, 64}, {2, 37, 1, 18, 40}, {1, 1, 1, 8, 8}, {2, 33, 1, 3, 5}}) {
    const Tensors<double> x = random_inputs(sizes);
    const Tensors<double> wanted = run_reference(sizes, x);
    expect_gradients_not_zero(wanted);
    on_every_target([&] { expect_all_close(run_fast(sizes, x), wanted); });
  }
}

TEST(DplrRule, AnyNumberOfThreadsGivesTheSameBits) {
  const DeltaSizes sizes{2, 40, 3, 16, 16};
  const Tensors<double> x = random_inputs(sizes);
  expect_same_for_any_threads([&] { return run_fast(sizes, x); });
}

TEST(DplrRule, WrongUseIsRefused) {
  std::vector<float> values(64);
  const DeltaRuleOutput<float> out{{values.data(), 4}, nullptr};
  EXPECT_THROW(dplr_rule_forward({1, 1, 1, 4, 4}, {}, out, nullptr), UsageError);
  EXPECT_THROW(dplr_rule_forward({1, 0, 1, 4, 4}, {}, out, nullptr), UsageError);
}

}  // namespace
}  // namespace shellgame
