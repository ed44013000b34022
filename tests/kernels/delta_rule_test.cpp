#include "shellgame/kernels/delta_rule.h"

#include "shellgame/kernels/delta_forms.h"
#include "shellgame/kernels/delta_rule_reference.h"
#include "shellgame/kernels/share_heads.h"
#include "shellgame/tensors/safetensors.h"
#include "shellgame/text/error.h"
#include "tests/support/delta_cases.h"

namespace shellgame {
namespace {

using namespace delta_cases;

struct Options {
  bool g = false, gk = false, gv = false, error_term = true, states = true, beta = true;
};

// Keys of unit length, beta in (0, 2) and exactly 0, 1, 2 at tokens 1, 2, 3, equal keys at 4 and 5.
Tensors<double> random_inputs(const DeltaSizes& sizes, const Options& options, unsigned seed = 1) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T;
  Tensors<double> x;
  x["q"] = normal(rows * H * K, seed);
  x["k"] = normal(rows * H * K, seed + 1);
  x["v"] = normal(rows * H * V, seed + 2);
  std::vector<double>& k = x["k"];
  for (std::size_t i = 0; i < rows * H; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < K; ++j) sum += k[i * K + j] * k[i * K + j];
    for (std::size_t j = 0; j < K; ++j)
      k[i * K + j] = static_cast<double>(static_cast<float>(k[i * K + j] / std::sqrt(sum)));
  }
  for (std::size_t b = 0; b < B && T > 5; ++b)
    std::copy_n(&k[(b * T + 4) * H * K], H * K, &k[(b * T + 5) * H * K]);
  if (options.beta) {
    x["beta"] = normal(rows * H, seed + 3);
    for (double& beta : x["beta"])
      beta = static_cast<double>(static_cast<float>(2 / (1 + std::exp(-beta))));
    for (std::size_t i = 0; i < rows * H; ++i) {
      const std::size_t t = i / H % T;
      if (t >= 1 && t <= 3) x["beta"][i] = static_cast<double>(t - 1);
    }
  }
  const auto decays = [&](const char* name, std::size_t size) {
    x[name] = normal(size, seed + 4, 0.2);
    for (double& g : x[name]) g = -std::abs(g);
  };
  if (options.g) decays("g", rows * H);
  if (options.gk) decays("gk", rows * H * K);
  if (options.gv) decays("gv", rows * H * V);
  if (options.states) x["h0"] = normal(B * H * K * V, seed + 5);
  return x;
}

struct Losses {
  std::vector<double> o, ht;
};

Losses random_losses(const DeltaSizes& sizes, const Options& options) {
  const auto [B, T, H, K, V] = sizes;
  return {normal(B * T * H * V, 50),
          options.states ? normal(B * H * K * V, 51) : std::vector<double>()};
}

template <class Real>
DeltaRuleInput<Real> input_of(const DeltaSizes& sizes, const Options& options, Tensors<Real>& x) {
  const std::size_t keys = sizes.H * sizes.K, values = sizes.H * sizes.V;
  DeltaRuleInput<Real> in;
  in.q = x.rows("q", keys);
  in.k = x.rows("k", keys);
  in.v = x.rows("v", values);
  in.beta = x.rows("beta", sizes.H);
  in.g = x.rows("g", sizes.H);
  in.gk = x.rows("gk", keys);
  in.gv = x.rows("gv", values);
  in.h0 = x.pointer("h0");
  in.scale = Real(1 / std::sqrt(double(sizes.K)));
  in.error_term = options.error_term;
  return in;
}

// Outputs, and gradients of sum(o * losses.o) + sum(ht * losses.ht).
Tensors<double> run_reference(const DeltaSizes& sizes, const Options& options, Tensors<double> x) {
  const auto [B, T, H, K, V] = sizes;
  const Losses losses = random_losses(sizes, options);
  const DeltaRuleInput<double> in = input_of(sizes, options, x);
  Tensors<double> result;
  result["o"].resize(x["v"].size());
  result["ht"].resize(B * H * K * V);
  delta_rule_forward_reference<double>(sizes, in, {result.rows("o", H * V), result.pointer("ht")});
  for (const auto& [name, values] : Tensors<double>(x)) result["d_" + name].resize(values.size());
  DeltaRuleGradients<double> gradients;
  gradients.d_o = {losses.o.data(), H * V};
  gradients.dht = options.states ? losses.ht.data() : nullptr;
  gradients.dq = result.rows("d_q", H * K);
  gradients.dk = result.rows("d_k", H * K);
  gradients.dv = result.rows("d_v", H * V);
  gradients.dbeta = result.rows("d_beta", H);
  gradients.dg = result.rows("d_g", H);
  gradients.dgk = result.rows("d_gk", H * K);
  gradients.dgv = result.rows("d_gv", H * V);
  gradients.dh0 = result.pointer("d_h0");
  delta_rule_backward_reference<double>(sizes, in, gradients);
  return result;
}

// The fast form, with gaps between rows and poison in every place it should write.
Tensors<float> run_fast(const DeltaSizes& sizes, const Options& options, const Tensors<double>& x,
                        DeltaForm form = DeltaForm::kBest) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T;
  const Losses losses = random_losses(sizes, options);
  const std::vector<float> loss_o(losses.o.begin(), losses.o.end());
  const std::vector<float> loss_ht(losses.ht.begin(), losses.ht.end());
  Tensors<float> dense = converted<float>(x), result;
  std::map<std::string, GappedRows> in_rows, out_rows;
  DeltaRuleInput<float> in;
  DeltaRuleGradients<float> gradients;
  const auto place = [&](const std::string& name, std::size_t width, RowView<const float>& view,
                         RowView<float>& gradient) {
    if (!dense.contains(name)) return;
    view = in_rows.emplace(name, GappedRows(rows, width, dense[name])).first->second.view();
    gradient = out_rows.emplace("d_" + name, GappedRows(rows, width)).first->second.view();
  };
  place("q", H * K, in.q, gradients.dq);
  place("k", H * K, in.k, gradients.dk);
  place("v", H * V, in.v, gradients.dv);
  place("beta", H, in.beta, gradients.dbeta);
  place("g", H, in.g, gradients.dg);
  place("gk", H * K, in.gk, gradients.dgk);
  place("gv", H * V, in.gv, gradients.dgv);
  in.h0 = dense.pointer("h0");
  in.scale = 1 / std::sqrt(float(K));
  in.error_term = options.error_term;
  GappedRows d_o(rows, H * V, loss_o);
  gradients.d_o = d_o.view();
  gradients.dht = options.states ? loss_ht.data() : nullptr;
  result["ht"].assign(B * H * K * V, kPoison);
  if (options.states) result["d_h0"].assign(B * H * K * V, kPoison);
  gradients.dh0 = result.pointer("d_h0");
  const RowView<float> o = out_rows.emplace("o", GappedRows(rows, H * V)).first->second.view();
  std::vector<float> saved(delta_rule_saved_size(sizes, in, form), kPoison);
  delta_rule_forward(sizes, in, {o, result.pointer("ht")}, saved.data(), form);
  delta_rule_backward(sizes, in, saved.data(), gradients, form);
  for (const auto& [name, values] : out_rows) {
    EXPECT_TRUE(values.gaps_untouched()) << name;
    result[name] = values.dense();
  }
  return result;
}

const Options kPlain{}, kScalar{.g = true}, kKeys{.gk = true}, kTwoSided{true, true, true},
    kScan{.g = true, .error_term = false}, kNoStates{.states = false, .beta = false};

TEST(DeltaRuleReference, GradientsAgreeWithComplexSteps) {
  const DeltaSizes sizes{2, 9, 2, 5, 3};
  for (const Options& options :
       {kPlain, kScalar, kKeys, kTwoSided, kScan, kNoStates, Options{.gv = true}}) {
    const Tensors<double> x = random_inputs(sizes, options);
    const Losses losses = random_losses(sizes, options);
    expect_complex_step(x, run_reference(sizes, options, x), [&](Tensors<Complex>& stepped) {
      std::vector<Complex> o(losses.o.size()), ht(sizes.B * sizes.H * sizes.K * sizes.V);
      delta_rule_forward_reference<Complex>(sizes, input_of(sizes, options, stepped),
                                            {{o.data(), sizes.H * sizes.V}, ht.data()});
      Complex loss = 0;
      for (std::size_t i = 0; i < o.size(); ++i) loss += o[i] * losses.o[i];
      for (std::size_t i = 0; i < losses.ht.size(); ++i) loss += ht[i] * losses.ht[i];
      return loss;
    });
  }
}

// fla's widths, with fewer tokens and heads where they are large; widths that no vector divides; K
// != V; odd numbers of tokens. On every target, since some have code of their own for the usual
// widths.
TEST(DeltaRule, AgreesWithTheReferenceAtManyShapes) {
  for (const DeltaSizes& sizes : std::vector<DeltaSizes>{{1, 63, 1, 64, 64},
                                                         {2, 100, 4, 60, 60},
                                                         {1, 200, 1, 128, 128},
                                                         {1, 256, 2, 64, 64},
                                                         {2, 77, 2, 32, 32},
                                                         {2, 130, 1, 16, 16},
                                                         {1, 37, 3, 20, 36},
                                                         {1, 17, 2, 48, 7},
                                                         {2, 16, 1, 1, 1}}) {
    const Tensors<double> x = random_inputs(sizes, kPlain);
    const Tensors<double> wanted = run_reference(sizes, kPlain, x);
    expect_gradients_not_zero(wanted);
    on_every_target([&] { expect_all_close(run_fast(sizes, kPlain, x), wanted); });
  }
}

TEST(DeltaRule, BothFormsAgreeWithTheReferenceForEveryDecayOnEveryTarget) {
  const DeltaSizes sizes{1, 41, 2, 18, 40};
  for (const Options& options :
       {kPlain, kScalar, kKeys, kTwoSided, kScan, kNoStates, Options{.error_term = false}}) {
    const Tensors<double> x = random_inputs(sizes, options);
    const Tensors<double> wanted = run_reference(sizes, options, x);
    expect_gradients_not_zero(wanted);
    on_every_target([&] {
      expect_all_close(run_fast(sizes, options, x, DeltaForm::kRecurrent), wanted);
      if (!options.gk && !options.gv)
        expect_all_close(run_fast(sizes, options, x, DeltaForm::kChunked), wanted);
    });
  }
}

TEST(DeltaRule, HeadsThatTakeTurnsDoNotMix) {
  set_thread_count(2);
  // One token, several segments; widths that are known to the compiler and not.
  for (const DeltaSizes& sizes :
       std::vector<DeltaSizes>{{16, 1, 5, 20, 24}, {16, 70, 5, 20, 24}, {16, 70, 5, 32, 32}}) {
    ASSERT_GT(heads_together(sizes), 1u);
    for (const Options& options : {kPlain, kScalar, kScan, kNoStates}) {
      const Tensors<double> x = random_inputs(sizes, options);
      const Tensors<double> wanted = run_reference(sizes, options, x);
      on_every_target(
          [&] { expect_all_close(run_fast(sizes, options, x, DeltaForm::kChunked), wanted); });
    }
  }
  set_thread_count(default_thread_count());
}

TEST(DeltaRule, WhatIsNotFiniteStaysInItsHead) {
  set_thread_count(2);
  for (const std::size_t V : {16u, 20u}) {
    const DeltaSizes sizes{16, 40, 2, 16, V};
    ASSERT_EQ(heads_together(sizes), 2u);
    Tensors<double> x = random_inputs(sizes, kPlain);
    for (std::size_t row = 0; row < 16 * 40; ++row)  // the keys of head 0
      std::fill_n(&x["k"][row * 2 * 16], 16, std::numeric_limits<double>::infinity());
    const Tensors<float> result = run_fast(sizes, kPlain, x, DeltaForm::kChunked);
    const std::vector<float>& dbeta = result.at("d_beta");
    EXPECT_FALSE(std::isfinite(dbeta[0]));
    for (std::size_t row = 0; row < 16 * 40; ++row) EXPECT_TRUE(std::isfinite(dbeta[2 * row + 1]));
  }
  set_thread_count(default_thread_count());
}

TEST(DeltaRule, AgreesWithTheReferenceForFewTokens) {
  for (const std::size_t T : {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 64, 65}) {
    for (const std::size_t V : {16u, 24u}) {
      const DeltaSizes sizes{2, T, 1, 16, V};
      for (const Options& options : {kPlain, kScalar, kKeys}) {
        const Tensors<double> x = random_inputs(sizes, options);
        const Tensors<double> wanted = run_reference(sizes, options, x);
        expect_all_close(run_fast(sizes, options, x), wanted);
        expect_all_close(run_fast(sizes, options, x, DeltaForm::kRecurrent), wanted);
      }
    }
  }
}

// Keys of unit length and beta = 2: a product of reflections, which neither grows nor shrinks.
TEST(DeltaRule, ReflectionsKeepTheirPrecisionOverLongSequences) {
  const DeltaSizes sizes{1, 2000, 1, 16, 16};
  Tensors<double> x = random_inputs(sizes, kPlain);
  for (double& beta : x["beta"]) beta = 2;
  expect_all_close(run_fast(sizes, kPlain, x), run_reference(sizes, kPlain, x), 10);
}

TEST(DeltaRule, StrongDecaysNeitherOverflowNorGiveNaN) {
  const DeltaSizes sizes{1, 50, 1, 16, 16};
  for (const Options& options : {kScalar, kTwoSided}) {
    Tensors<double> x = random_inputs(sizes, options);
    for (double& g : x["g"]) g *= 200;
    expect_all_close(run_fast(sizes, options, x), run_reference(sizes, options, x));
  }
}

TEST(DeltaRule, AnyNumberOfThreadsGivesTheSameBits) {
  const DeltaSizes sizes{3, 70, 3, 32, 32};
  for (const Options& options : {kPlain, kScalar, kTwoSided}) {
    const Tensors<double> x = random_inputs(sizes, options);
    expect_same_for_any_threads([&] { return run_fast(sizes, options, x); });
  }
}

TEST(DeltaRule, ASequenceInTwoPartsIsTheWhole) {
  const DeltaSizes whole{1, 60, 2, 32, 16};
  const Tensors<double> x = random_inputs(whole, kScalar);
  Tensors<float> dense = converted<float>(x);
  std::vector<float> o(dense["v"].size()), parts(o.size()), state(dense["h0"].size());
  const DeltaRuleInput<float> in = input_of(whole, kScalar, dense);
  delta_rule_forward(whole, in, {{o.data(), whole.H * whole.V}, nullptr}, nullptr);
  state = dense["h0"];
  for (const auto& [begin, end] : {std::pair{0, 23}, {23, 24}, {24, 60}}) {
    const auto first = static_cast<std::size_t>(begin);
    DeltaSizes sizes = whole;
    sizes.T = static_cast<std::size_t>(end - begin);
    DeltaRuleInput<float> part = in;
    for (RowView<const float>* rows : {&part.q, &part.k, &part.v, &part.beta, &part.g})
      rows->data = rows->row(first);
    std::vector<float> next(state.size(), kPoison);
    part.h0 = state.data();
    delta_rule_forward(sizes, part,
                       {{parts.data() + first * whole.H * whole.V, whole.H * whole.V}, next.data()},
                       nullptr);
    state = next;
  }
  EXPECT_LT(error_ratio(parts, std::vector<double>(o.begin(), o.end())), 1e-5);
}

// Numbers that fla's own kernels gave (tests/data/operations).
TEST(DeltaRule, AgreesWithFlaInEveryForm) {
  for (const char* name : {"delta_rule", "two_sided", "two_sided-gradients"}) {
    const SafetensorsFile file(std::string(SHELLGAME_TEST_DATA "/operations/") + name +
                               ".safetensors");
    Tensors<float> x;
    for (const StoredTensor& tensor : file.tensors()) x[tensor.name] = file.floats(tensor.name);
    const Shape keys = file.at("k").shape, values = file.at("v").shape;
    const DeltaSizes sizes{static_cast<std::size_t>(keys[0]), static_cast<std::size_t>(keys[1]),
                           static_cast<std::size_t>(keys[2]), static_cast<std::size_t>(keys[3]),
                           static_cast<std::size_t>(values[3])};
    const DeltaRuleInput<float> in = input_of(sizes, {}, x);
    const bool gradients = x.contains("d_q");
    for (const DeltaForm form : {DeltaForm::kBest, DeltaForm::kRecurrent}) {
      Tensors<float> result;
      for (const auto& [key, tensor] : x)
        if (key == "o" || key == "ht" || (key.starts_with("d_") && key != "d_o" && key != "d_ht"))
          result[key].assign(tensor.size(), kPoison);
      std::vector<float> saved(delta_rule_saved_size(sizes, in, form), kPoison);
      delta_rule_forward(sizes, in, {result.rows("o", sizes.H * sizes.V), result.pointer("ht")},
                         saved.data(), form);
      DeltaRuleGradients<float> g;
      g.d_o = x.rows("d_o", sizes.H * sizes.V);
      g.dht = x.pointer("d_ht");
      g.dq = result.rows("d_q", sizes.H * sizes.K);
      g.dk = result.rows("d_k", sizes.H * sizes.K);
      g.dv = result.rows("d_v", sizes.H * sizes.V);
      g.dbeta = result.rows("d_beta", sizes.H);
      g.dg = result.rows("d_g", sizes.H);
      g.dgk = result.rows("d_gk", sizes.H * sizes.K);
      g.dgv = result.rows("d_gv", sizes.H * sizes.V);
      g.dh0 = result.pointer("d_h0");
      if (gradients) delta_rule_backward(sizes, in, saved.data(), g, form);
      Tensors<double> wanted;
      for (const auto& [key, tensor] : result) wanted[key] = {x[key].begin(), x[key].end()};
      expect_gradients_not_zero(wanted);
      expect_all_close(result, wanted);
    }
  }
}

TEST(DeltaRule, WrongUseIsRefused) {
  std::vector<float> values(64);
  DeltaRuleInput<float> in;
  in.q = in.k = in.v = {values.data(), 4};
  const DeltaRuleOutput<float> out{{values.data(), 4}, nullptr};
  EXPECT_THROW(delta_rule_forward({1, 0, 1, 4, 4}, in, out, nullptr), UsageError);
  EXPECT_THROW(delta_rule_forward({1, 1, 1, 0, 4}, in, out, nullptr), UsageError);
  EXPECT_THROW(delta_rule_forward({1, 1, 1, 4, 4}, {}, out, nullptr), UsageError);
  EXPECT_THROW(delta_rule_forward({1, 1, 1, 4, 4}, in, {}, nullptr), UsageError);
  EXPECT_THROW(delta_rule_backward({1, 100, 1, 4, 4}, in, nullptr, {}), UsageError);
  in.gk = in.k;
  EXPECT_THROW(delta_rule_forward({1, 1, 1, 4, 4}, in, out, nullptr, DeltaForm::kChunked),
               UsageError);
}

}  // namespace
}  // namespace shellgame
