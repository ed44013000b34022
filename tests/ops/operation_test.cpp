// Single operations against flash-linear-attention, transformers, torch and xlstm: outputs and the
// gradients of all inputs, by our kernels and in plain Torch operations.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>

#include "shellgame/ops/activation.h"
#include "shellgame/ops/attention.h"
#include "shellgame/ops/cells.h"
#include "shellgame/ops/delta_rule.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/norm.h"
#include "shellgame/ops/short_conv.h"
#include "shellgame/tensors/safetensors.h"
#include "tests/ops/rms_ratio.h"

namespace shellgame {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

struct OperationCase {
  std::string file;
  // Outputs by name from inputs by name.
  std::function<Tensors(const Tensors&)> compute;
  double tolerance = 1e-5;
};

at::Tensor given(const Tensors& in, const std::string& name) {
  const auto found = in.find(name);
  return found == in.end() ? at::Tensor() : found->second;
}

at::Tensor spread(const at::Tensor& x, std::int64_t heads) {
  return x.size(2) == heads ? x : x.repeat_interleave(heads / x.size(2), 2);
}

// All forms of the delta rule; K^-0.5 is its scale.
Tensors delta(const Tensors& in) {
  const std::int64_t heads = in.at("v").size(2);
  const at::Tensor g = given(in, "g");
  const bool channels = g.defined() && g.dim() == 4;
  DeltaInputs inputs;
  inputs.q = spread(in.at("q"), heads);
  inputs.k = spread(in.at("k"), heads);
  inputs.v = in.at("v");
  inputs.beta = in.at("beta");
  if (channels) {
    inputs.key_decay = g;
  } else {
    inputs.decay = g;
    inputs.key_decay = given(in, "gk");
    inputs.value_decay = given(in, "gv");
  }
  inputs.start = in.at("h0");
  inputs.scale = 1 / std::sqrt(static_cast<double>(in.at("q").size(3)));
  const Recurrence run = delta_rule(inputs);
  return {{"o", run.output}, {"ht", run.state}};
}

Tensors normed_delta(Tensors in) {
  in["q"] = l2_norm(in["q"]);
  in["k"] = l2_norm(in["k"]);
  return delta(in);
}

Tensors low_rank(const Tensors& in) {
  LowRankInputs inputs;
  inputs.q = in.at("r");
  inputs.decay = in.at("w");
  inputs.k = in.at("k");
  inputs.v = in.at("v");
  inputs.a = in.at("b");  // theirs writes with b and reads with a
  inputs.b = in.at("a");
  inputs.start = in.at("h0");
  const Recurrence run = low_rank_rule(inputs);
  return {{"o", run.output}, {"ht", run.state}};
}

Tensors mamba_scan(const Tensors& in) {
  const at::Tensor step = in.at("dt");
  DeltaInputs inputs;
  inputs.q = spread(in.at("c"), 4);
  inputs.k = spread(in.at("b"), 4);
  inputs.v = in.at("x") * step.unsqueeze(-1);
  inputs.decay = in.at("a") * step;
  inputs.start = in.at("h0").transpose(-1, -2);
  const Recurrence run = delta_rule(inputs);
  return {{"y", run.output + in.at("x") * in.at("d").unsqueeze(-1)},
          {"ht", run.state.transpose(-1, -2)}};
}

Tensors gated(const Tensors& in, const std::string& gate) {
  return {{"y", gated_norm(in.at("x"), in.at("weight"), 1e-5, in.at("g"), gate)}};
}

Tensors convolution(const Tensors& in, const std::string& activation) {
  const at::Tensor weight = in.at("weight").unsqueeze(1);
  // Ours remembers one input more, which nothing reads.
  const at::Tensor before = at::cat({at::zeros({2, 24, 1}), in.at("h0")}, -1);
  return {{"y", short_conv(in.at("x"), weight, given(in, "bias"), activation, before)},
          {"ht", last_inputs(in.at("x"), before, 4).narrow(-1, 1, 3)}};
}

Tensors torch_lstm(const Tensors& in) {
  const at::Tensor gates =
      at::linear(in.at("x"), in.at("weight_ih_l0")) + in.at("bias_ih_l0") + in.at("bias_hh_l0");
  const CellRun run = lstm(gates, in.at("weight_hh_l0"), {in.at("h0"), in.at("c0")});
  return {{"y", run.output}, {"ht", run.states[0]}, {"ct", run.states[1]}};
}

Tensors torch_gru(const Tensors& in) {
  const at::Tensor gates = at::linear(in.at("x"), in.at("weight_ih_l0"), in.at("bias_ih_l0"));
  const CellRun run = gru(gates, in.at("weight_hh_l0"), in.at("bias_hh_l0"), {in.at("h0")});
  return {{"y", run.output}, {"ht", run.states[0]}};
}

Tensors xlstm_cell(const Tensors& in) {
  const at::Tensor gates = in.at("x").unflatten(-1, {4, 4, 8});
  const CellRun run =
      slstm(gates, in.at("_recurrent_kernel_"), in.at("_bias_").view({4, 4, 8}), {});
  std::vector<at::Tensor> states;
  for (const std::size_t i : {0u, 1u, 2u, 3u}) states.push_back(run.states[i].flatten(1));
  return {{"y", run.output.unflatten(-1, {4, 8}).transpose(1, 2)}, {"state", at::stack(states)}};
}

std::vector<OperationCase> operation_cases() {
  return {
      {"delta_rule", delta},
      {"delta_rule-63x64", delta},
      {"delta_rule-100x16", delta},
      {"delta_rule-100x32", delta},
      {"delta_rule-raw", normed_delta},
      {"gated_delta_rule", delta},
      {"kda", delta},
      {"two_sided", delta},
      {"two_sided-gradients", delta},
      {"rwkv7", low_rank},
      {"ssd", mamba_scan},
      {"rotary",
       [](const Tensors& in) {
         return Tensors{{"q_out", rotate(in.at("q"), 1e4, 3)},
                        {"k_out", rotate(in.at("k"), 1e4, 3)}};
       }},
      {"gated_rms_norm-silu", [](const Tensors& in) { return gated(in, "silu"); }},
      {"gated_rms_norm-sigmoid", [](const Tensors& in) { return gated(in, "sigmoid"); }},
      {"rms_norm",
       [](const Tensors& in) {
         return Tensors{{"y", rms_norm(in.at("x"), in.at("weight"), 1e-2)}};
       }},
      {"l2_norm",
       [](const Tensors& in) {
         return Tensors{{"y", l2_norm(in.at("x"))}};
       }},
      {"short_convolution", [](const Tensors& in) { return convolution(in, "identity"); }},
      {"short_convolution-silu", [](const Tensors& in) { return convolution(in, "silu"); }},
      {"short_convolution-bias", [](const Tensors& in) { return convolution(in, "silu"); }},
      {"lstm", torch_lstm},
      {"gru", torch_gru},
      {"slstm", xlstm_cell},
  };
}

class Operation : public testing::TestWithParam<std::tuple<std::size_t, Engine>> {};

TEST_P(Operation, OutputsAndGradientsAreTheReferences) {
  use_threads(2);
  const OperationCase each = operation_cases()[std::get<0>(GetParam())];
  const EngineScope engine(std::get<1>(GetParam()));
  const SafetensorsFile file(SHELLGAME_TEST_DATA "/operations/" + each.file + ".safetensors");
  Tensors all;
  for (const StoredTensor& tensor : file.tensors()) {
    std::vector<float> values = file.floats(tensor.name);
    all[tensor.name] = at::from_blob(values.data(), tensor.shape, at::kFloat).clone();
  }
  Tensors inputs;
  for (const auto& [name, value] : all) inputs[name] = value.clone().requires_grad_();
  const Tensors outputs = each.compute(inputs);
  std::vector<at::Tensor> results, upstream, wanted;
  std::vector<std::string> names;
  for (const auto& [name, value] : outputs) {
    EXPECT_LT(rms_ratio(value, all.at(name)), each.tolerance) << name;
    if (!all.contains("d_" + name)) continue;
    results.push_back(value);
    upstream.push_back(all.at("d_" + name));
  }
  for (const auto& [name, value] : all) {
    if (!name.starts_with("d_") || outputs.contains(name.substr(2))) continue;
    names.push_back(name);
    wanted.push_back(inputs.at(name.substr(2)));
  }
  if (wanted.empty()) return;  // forward only
  const auto gradients = torch::autograd::grad(results, wanted, upstream, false, false, true);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_TRUE(gradients[i].defined()) << names[i];
    ASSERT_GT(all.at(names[i]).abs().max().item<float>(), 0) << names[i];
    EXPECT_LT(rms_ratio(gradients[i], all.at(names[i])), 1e-4) << names[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Operation,
                         testing::Combine(testing::Range<std::size_t>(0, operation_cases().size()),
                                          testing::Values(Engine::kKernels, Engine::kComposed)),
                         [](const auto& test) {
                           std::string name = operation_cases()[std::get<0>(test.param)].file;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (std::get<1>(test.param) == Engine::kKernels
                                              ? "_kernels"
                                              : "_composed");
                         });

// LibTorch has it too.
TEST(TanhRnn, IsTorchs) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({3, 9, 5}), in = at::randn({7, 5}),
                   recurrent = at::randn({7, 7}) / 3, in_bias = at::randn({7}),
                   back_bias = at::randn({7}), start = at::randn({1, 3, 7});
  const auto [wanted, last] = at::rnn_tanh(x, start, {in, recurrent, in_bias, back_bias},
                                           /*has_biases=*/true, /*num_layers=*/1, /*dropout=*/0,
                                           /*train=*/false, /*bidirectional=*/false,
                                           /*batch_first=*/true);
  const CellRun run = tanh_rnn(at::linear(x, in, in_bias) + back_bias, recurrent, {start[0]});
  EXPECT_LT((run.output - wanted).abs().max().item<double>(), 1e-6);
  EXPECT_LT((run.states[0] - last[0]).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace shellgame
