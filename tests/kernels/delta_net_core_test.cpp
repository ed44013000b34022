#include "shellgame/kernels/delta_net_core.h"

#include "shellgame/kernels/delta_net_core_reference.h"
#include "shellgame/kernels/share_heads.h"
#include "shellgame/text/error.h"
#include "tests/support/delta_cases.h"

namespace shellgame {
namespace {

using namespace delta_cases;

struct Options {
  std::size_t W = 4;
  bool gate = false, beta = true, states = true;
  QkActivation activation = QkActivation::kSilu;
  QkNorm norm = QkNorm::kL2;
  GateActivation gate_activation = GateActivation::kSilu;
  double beta_scale = 2;
};

Tensors<double> random_inputs(const DeltaSizes& sizes, const Options& options) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T, keys = H * K, values = H * V, W = options.W;
  Tensors<double> x;
  x["q"] = normal(rows * keys, 1);
  x["k"] = normal(rows * keys, 2);
  x["v"] = normal(rows * values, 3);
  if (options.beta) x["beta"] = normal(rows * H, 4);
  if (options.gate) x["gate"] = normal(rows * values, 5);
  if (W > 0) {
    x["q_conv"] = normal(keys * W, 6, 0.5);
    x["k_conv"] = normal(keys * W, 7, 0.5);
    x["v_conv"] = normal(values * W, 8, 0.5);
  }
  if (W > 0 && options.states) {
    x["q_state"] = normal(B * keys * W, 9);
    x["k_state"] = normal(B * keys * W, 10);
    x["v_state"] = normal(B * values * W, 11);
  }
  if (options.states) x["h0"] = normal(B * H * K * V, 12);
  x["norm_weight"] = normal(V, 13);
  return x;
}

// Gradients of the loss with respect to the outputs.
Tensors<double> random_losses(const DeltaSizes& sizes, const Options& options) {
  const auto [B, T, H, K, V] = sizes;
  Tensors<double> x;
  x["o"] = normal(B * T * H * V, 20);
  if (options.states) x["ht"] = normal(B * H * K * V, 21);
  if (options.states && options.W > 0) {
    x["q_out"] = normal(B * H * K * options.W, 22);
    x["k_out"] = normal(B * H * K * options.W, 23);
    x["v_out"] = normal(B * H * V * options.W, 24);
  }
  return x;
}

template <class Real>
DeltaNetCoreInput<Real> input_of(const DeltaSizes& sizes, const Options& options,
                                 Tensors<Real>& x) {
  const std::size_t keys = sizes.H * sizes.K, values = sizes.H * sizes.V;
  DeltaNetCoreInput<Real> in;
  in.q = x.rows("q", keys);
  in.k = x.rows("k", keys);
  in.v = x.rows("v", values);
  in.beta = x.rows("beta", sizes.H);
  in.gate = x.rows("gate", values);
  in.W = options.W;
  in.q_conv = x.pointer("q_conv");
  in.k_conv = x.pointer("k_conv");
  in.v_conv = x.pointer("v_conv");
  in.q_state = x.pointer("q_state");
  in.k_state = x.pointer("k_state");
  in.v_state = x.pointer("v_state");
  in.h0 = x.pointer("h0");
  in.norm_weight = x.pointer("norm_weight");
  in.norm_eps = Real(1e-6);
  in.scale = Real(1 / std::sqrt(double(sizes.K)));
  in.beta_scale = Real(options.beta_scale);
  in.qk_activation = options.activation;
  in.qk_norm = options.norm;
  in.gate_activation = options.gate_activation;
  return in;
}

// Places for all outputs, and for the gradient of each input, filled with `value`.
template <class Real>
Tensors<Real> places(const DeltaSizes& sizes, const Options& options, const Tensors<double>& x,
                     Real value) {
  const auto [B, T, H, K, V] = sizes;
  Tensors<Real> result;
  result["o"].assign(B * T * H * V, value);
  result["ht"].assign(B * H * K * V, value);
  if (options.W > 0) {
    result["q_out"].assign(B * H * K * options.W, value);
    result["k_out"].assign(B * H * K * options.W, value);
    result["v_out"].assign(B * H * V * options.W, value);
  }
  for (const auto& [name, values] : x) result["d_" + name].assign(values.size(), value);
  return result;
}

template <class Real>
DeltaNetCoreOutput<Real> output_of(const DeltaSizes& sizes, Tensors<Real>& result) {
  return {result.rows("o", sizes.H * sizes.V), result.pointer("ht"), result.pointer("q_out"),
          result.pointer("k_out"), result.pointer("v_out")};
}

template <class Real>
DeltaNetCoreGradients<Real> gradients_of(const DeltaSizes& sizes, Tensors<Real>& losses,
                                         Tensors<Real>& result) {
  const std::size_t keys = sizes.H * sizes.K, values = sizes.H * sizes.V;
  DeltaNetCoreGradients<Real> g;
  g.d_o = losses.rows("o", values);
  g.dht = losses.pointer("ht");
  g.dq_state_out = losses.pointer("q_out");
  g.dk_state_out = losses.pointer("k_out");
  g.dv_state_out = losses.pointer("v_out");
  g.dq = result.rows("d_q", keys);
  g.dk = result.rows("d_k", keys);
  g.dv = result.rows("d_v", values);
  g.dbeta = result.rows("d_beta", sizes.H);
  g.dgate = result.rows("d_gate", values);
  g.dq_conv = result.pointer("d_q_conv");
  g.dk_conv = result.pointer("d_k_conv");
  g.dv_conv = result.pointer("d_v_conv");
  g.dq_state = result.pointer("d_q_state");
  g.dk_state = result.pointer("d_k_state");
  g.dv_state = result.pointer("d_v_state");
  g.dh0 = result.pointer("d_h0");
  g.dnorm_weight = result.pointer("d_norm_weight");
  return g;
}

Tensors<double> run_reference(const DeltaSizes& sizes, const Options& options, Tensors<double> x) {
  Tensors<double> result = places(sizes, options, x, 0.0), losses = random_losses(sizes, options);
  const DeltaNetCoreInput<double> in = input_of(sizes, options, x);
  delta_net_core_forward_reference(sizes, in, output_of(sizes, result));
  delta_net_core_backward_reference(sizes, in, gradients_of(sizes, losses, result));
  return result;
}

// All rows are slices of one buffer, as a projection gives them, and so are their gradients.
Tensors<float> run_fast(const DeltaSizes& sizes, const Options& options, const Tensors<double>& x) {
  const auto [B, T, H, K, V] = sizes;
  const std::size_t rows = B * T;
  Tensors<float> dense = converted<float>(x), result = places(sizes, options, x, kPoison);
  Tensors<float> losses = converted<float>(random_losses(sizes, options));
  DeltaNetCoreInput<float> in = input_of(sizes, options, dense);
  DeltaNetCoreGradients<float> gradients = gradients_of(sizes, losses, result);
  const std::size_t widths[] = {H * K, H * K, H * V, H, H * V};
  const char* names[] = {"q", "k", "v", "beta", "gate"};
  RowView<const float>* views[] = {&in.q, &in.k, &in.v, &in.beta, &in.gate};
  RowView<float>* gradient_views[] = {&gradients.dq, &gradients.dk, &gradients.dv, &gradients.dbeta,
                                      &gradients.dgate};
  const std::size_t stride = 2 * H * K + 2 * H * V + H + 5;
  std::vector<float> projection(rows * stride, kPoison), gradient = projection;
  std::size_t column = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    if (!dense.contains(names[i])) continue;
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(&dense[names[i]][row * widths[i]], widths[i], &projection[row * stride + column]);
    *views[i] = {projection.data() + column, stride};
    *gradient_views[i] = {gradient.data() + column, stride};
    column += widths[i];
  }
  std::vector<float> saved(delta_net_core_saved_size(sizes), kPoison);
  delta_net_core_forward(sizes, in, output_of(sizes, result), saved.data());
  delta_net_core_backward(sizes, in, saved.data(), gradients);
  for (std::size_t i = 0; i < 5; ++i) {
    if (!dense.contains(names[i])) continue;
    for (std::size_t row = 0; row < rows; ++row)
      std::copy_n(gradient_views[i]->row(row), widths[i],
                  &result[std::string("d_") + names[i]][row * widths[i]]);
  }
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = column; j < stride; ++j)
      EXPECT_TRUE(std::isnan(gradient[row * stride + j])) << "beside the gradients";
  return result;
}

const std::vector<Options> kKinds = {
    {},
    {.gate = true},
    {.W = 3, .gate = true, .gate_activation = GateActivation::kSigmoid},
    {.W = 0, .gate = true},
    {.beta = false, .states = false, .beta_scale = 1},
    {.gate = true, .activation = QkActivation::kIdentity},
    {.W = 2, .activation = QkActivation::kRelu},
    {.W = 7, .activation = QkActivation::kElu, .norm = QkNorm::kSum},
};

TEST(DeltaNetCoreReference, GradientsAgreeWithComplexSteps) {
  const DeltaSizes sizes{2, 7, 2, 4, 3};
  for (const Options& options : kKinds) {
    const Tensors<double> x = random_inputs(sizes, options);
    const Tensors<double> losses = random_losses(sizes, options);
    expect_complex_step(x, run_reference(sizes, options, x), [&](Tensors<Complex>& stepped) {
      Tensors<Complex> result = places<Complex>(sizes, options, x, 0);
      delta_net_core_forward_reference(sizes, input_of(sizes, options, stepped),
                                       output_of(sizes, result));
      Complex loss = 0;
      for (const auto& [name, weights] : losses)
        for (std::size_t i = 0; i < weights.size(); ++i) loss += weights[i] * result[name][i];
      return loss;
    });
  }
}

TEST(DeltaNetCore, AgreesWithTheReferenceForEveryKindOnEveryTarget) {
  const DeltaSizes sizes{2, 37, 2, 18, 12};
  for (const Options& options : kKinds) {
    const Tensors<double> x = random_inputs(sizes, options);
    const Tensors<double> wanted = run_reference(sizes, options, x);
    expect_gradients_not_zero(wanted);
    on_every_target([&] { expect_all_close(run_fast(sizes, options, x), wanted); });
  }
}

TEST(DeltaNetCore, AgreesWithTheReferenceAtManyShapes) {
  for (const DeltaSizes& sizes : std::vector<DeltaSizes>{{2, 200, 2, 32, 32},
                                                         {1, 150, 1, 16, 16},
                                                         {1, 100, 2, 64, 64},
                                                         {1, 130, 1, 128, 128},
                                                         {1, 33, 1, 128, 20},
                                                         {3, 1, 2, 32, 32},
                                                         {1, 2, 1, 5, 3},
                                                         {1, 16, 1, 8, 8},
                                                         {1, 17, 1, 2, 2}}) {
    const Options options{.gate = true};
    const Tensors<double> x = random_inputs(sizes, options);
    const Tensors<double> wanted = run_reference(sizes, options, x);
    on_every_target([&] { expect_all_close(run_fast(sizes, options, x), wanted); });
  }
}

TEST(DeltaNetCore, HeadsThatTakeTurnsDoNotMix) {
  set_thread_count(2);
  // One token, several segments; widths that are known to the compiler and not.
  for (const DeltaSizes& sizes :
       std::vector<DeltaSizes>{{16, 1, 5, 20, 24}, {16, 70, 5, 20, 24}, {16, 70, 5, 32, 32}}) {
    ASSERT_GT(heads_together(sizes), 1u);
    const Options options{.gate = true};
    const Tensors<double> x = random_inputs(sizes, options);
    const Tensors<double> wanted = run_reference(sizes, options, x);
    on_every_target([&] { expect_all_close(run_fast(sizes, options, x), wanted); });
  }
  set_thread_count(default_thread_count());
}

TEST(DeltaNetCore, AnyNumberOfThreadsGivesTheSameBits) {
  const DeltaSizes sizes{3, 50, 3, 32, 32};
  const Options options{.gate = true};
  const Tensors<double> x = random_inputs(sizes, options);
  expect_same_for_any_threads([&] { return run_fast(sizes, options, x); });
}

// Streaming: each part begins with the states that the one before left.
TEST(DeltaNetCore, ASequenceInPartsIsTheWhole) {
  const DeltaSizes whole{1, 40, 2, 16, 16};
  const Options options;
  const Tensors<double> x = random_inputs(whole, options);
  Tensors<float> dense = converted<float>(x), result = places(whole, options, x, kPoison);
  DeltaNetCoreInput<float> in = input_of(whole, options, dense);
  delta_net_core_forward(whole, in, output_of(whole, result), nullptr);
  std::vector<float> parts(result["o"].size(), kPoison);
  Tensors<float> state = dense, next = result;
  for (const auto& [begin, end] : {std::pair{0, 21}, {21, 22}, {22, 24}, {24, 40}}) {
    const auto first = static_cast<std::size_t>(begin);
    DeltaSizes sizes = whole;
    sizes.T = static_cast<std::size_t>(end - begin);
    DeltaNetCoreInput<float> part = in;
    for (RowView<const float>* rows : {&part.q, &part.k, &part.v, &part.beta})
      rows->data = rows->row(first);
    part.h0 = state.pointer("h0");
    part.q_state = state.pointer("q_state");
    part.k_state = state.pointer("k_state");
    part.v_state = state.pointer("v_state");
    DeltaNetCoreOutput<float> out = output_of(sizes, next);
    out.o = {parts.data() + first * whole.H * whole.V, whole.H * whole.V};
    delta_net_core_forward(sizes, part, out, nullptr);
    state["h0"] = next["ht"];
    state["q_state"] = next["q_out"];
    state["k_state"] = next["k_out"];
    state["v_state"] = next["v_out"];
  }
  const std::vector<float>& o = result["o"];
  EXPECT_LT(error_ratio(parts, std::vector<double>(o.begin(), o.end())), 1e-5);
}

TEST(DeltaNetCore, WrongUseIsRefused) {
  std::vector<float> values(64);
  DeltaNetCoreInput<float> in;
  in.q = in.k = in.v = {values.data(), 4};
  DeltaNetCoreOutput<float> out;
  out.o = {values.data(), 4};
  EXPECT_THROW(delta_net_core_forward({1, 0, 1, 4, 4}, in, out, nullptr), UsageError);
  EXPECT_THROW(delta_net_core_forward({1, 1, 1, 4, 4}, {}, out, nullptr), UsageError);
  EXPECT_THROW(delta_net_core_forward({1, 1, 1, 4, 4}, in, {}, nullptr), UsageError);
  EXPECT_THROW(delta_net_core_backward({1, 1, 1, 4, 4}, in, nullptr, {}), UsageError);
  in.W = 4;
  EXPECT_THROW(delta_net_core_forward({1, 1, 1, 4, 4}, in, out, nullptr), UsageError);
  in.W = 99;
  EXPECT_THROW(delta_net_core_forward({1, 1, 1, 4, 4}, in, out, nullptr), UsageError);
}

}  // namespace
}  // namespace shellgame
