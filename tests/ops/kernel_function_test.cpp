// What holds for every differentiable function that a kernel computes: gradients of gradients are
// refused, and a gradient that nobody wants is not computed.
#include "shellgame/ops/attention.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>

#include <functional>
#include <set>

#include "shellgame/ops/cells.h"
#include "shellgame/ops/delta_net_core.h"
#include "shellgame/ops/delta_rule.h"
#include "shellgame/ops/embedding.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/linear.h"
#include "shellgame/ops/loss.h"
#include "shellgame/ops/norm.h"
#include "shellgame/ops/short_conv.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Parts = std::vector<at::Tensor>;
using PartShape = std::vector<std::int64_t>;

struct FunctionCase {
  std::string name;
  std::vector<PartShape> shapes;  // of what has gradients
  std::function<Parts(const Parts&)> compute;
  bool has_twin = true;  // composed of Torch's operations, in the same call
};

constexpr std::int64_t kCaseRows = 2, kCaseTime = 5, kCaseHeads = 2, kCaseWidth = 8;

at::Tensor some_ids() { return at::arange(kCaseRows * kCaseTime).remainder(7); }

Parts outputs_of(const CellRun& run) {
  Parts all = {run.output};
  all.insert(all.end(), run.states.begin(), run.states.end());
  return all;
}

Parts delta_net_core_of(const Parts& in) {
  DeltaNetCore core;
  core.heads = kCaseHeads;
  core.key_width = core.value_width = 4;
  core.gate = true;
  core.q_conv = in[1];
  core.k_conv = in[2];
  core.v_conv = in[3];
  core.norm_weight = in[4];
  DeltaNetMemory memory{in[5], in[6], in[7], in[8]};
  const at::Tensor output = delta_net_core(in[0], core, &memory);
  return {output, memory.recurrent, memory.conv_q, memory.conv_k, memory.conv_v};
}

Parts delta_rule_of(const Parts& in) {
  DeltaInputs inputs;
  inputs.q = in[0];
  inputs.k = in[1];
  inputs.v = in[2];
  inputs.beta = in[3];
  inputs.decay = in[4];
  inputs.start = in[5];
  const Recurrence run = delta_rule(inputs);
  return {run.output, run.state};
}

Parts low_rank_of(const Parts& in) {
  LowRankInputs inputs;
  inputs.q = in[0];
  inputs.decay = in[1];
  inputs.k = in[2];
  inputs.v = in[3];
  inputs.a = in[4];
  inputs.b = in[5];
  inputs.start = in[6];
  const Recurrence run = low_rank_rule(inputs);
  return {run.output, run.state};
}

std::vector<FunctionCase> function_cases() {
  const PartShape heads = {kCaseRows, kCaseTime, kCaseHeads, kCaseWidth},
                  rows = {kCaseRows, kCaseTime, kCaseWidth};
  const PartShape weight = {kCaseWidth}, square = {kCaseWidth, kCaseWidth},
                  of_head = {kCaseRows, kCaseTime, kCaseHeads};
  const PartShape state = {kCaseRows, kCaseHeads, kCaseWidth, kCaseWidth},
                  hidden = {kCaseRows, kCaseWidth};
  const PartShape conv = {kCaseWidth, 1, 4}, history = {kCaseRows, kCaseWidth, 4};
  return {
      {"rotate", {heads}, [](const Parts& in) { return Parts{rotate(in[0], 1e4, 3)}; }},
      {"attention",
       {heads, heads, heads},
       [](const Parts& in) { return Parts{attention(in[0], in[1], in[2], 0.5, 0)}; }},
      {"slstm",
       {{kCaseRows, kCaseTime, 4, kCaseHeads, 4},
        {kCaseHeads, 16, 4},
        {4, kCaseHeads, 4},
        {kCaseRows, kCaseHeads, 4},
        {kCaseRows, kCaseHeads, 4}},
       [](const Parts& in) {
         return outputs_of(slstm(in[0], in[1], in[2], {in[3], in[4], in[4].square() + 1, in[3]}));
       }},
      {"lstm",
       {{kCaseRows, kCaseTime, 4 * kCaseWidth}, {4 * kCaseWidth, kCaseWidth}, hidden, hidden},
       [](const Parts& in) {
         return outputs_of(lstm(in[0], in[1], {in[2], in[3]}));
       }},
      {"gru",
       {{kCaseRows, kCaseTime, 3 * kCaseWidth},
        {3 * kCaseWidth, kCaseWidth},
        {3 * kCaseWidth},
        hidden},
       [](const Parts& in) { return outputs_of(gru(in[0], in[1], in[2], {in[3]})); }},
      {"tanh_rnn",
       {{kCaseRows, kCaseTime, kCaseWidth}, {kCaseWidth, kCaseWidth}, hidden},
       [](const Parts& in) { return outputs_of(tanh_rnn(in[0], in[1], {in[2]})); }},
      {"delta_net_core",
       {{kCaseRows, kCaseTime, 4 * 8 + 2},
        conv,
        conv,
        conv,
        {4},
        {kCaseRows, 2, 4, 4},
        history,
        history,
        history},
       delta_net_core_of,
       false},
      {"delta_rule", {heads, heads, heads, of_head, of_head, state}, delta_rule_of},
      {"low_rank_rule", {heads, heads, heads, heads, heads, heads, state}, low_rank_of},
      {"embedding_rows",
       {{7, kCaseWidth}},
       [](const Parts& in) { return Parts{embedding_rows(in[0], some_ids())}; }},
      {"norm_linear",
       {rows, weight, square, {3, kCaseWidth}},
       [](const Parts& in) {
         const NormLinear both = norm_linear(in[0], in[1], 1e-6, {in[2], in[3]});
         return Parts{both.x, both.y};
       }},
      {"linear_add",
       {rows, rows, square},
       [](const Parts& in) { return Parts{linear_add(in[0], in[1], in[2])}; }},
      {"swiglu_mlp",
       {rows, weight, {12, kCaseWidth}, {12, kCaseWidth}, {kCaseWidth, 12}},
       [](const Parts& in) { return Parts{swiglu_mlp(in[0], in[1], 1e-6, in[2], in[3], in[4])}; }},
      {"token_loss",
       {{kCaseRows * kCaseTime, kCaseWidth}, weight, {7, kCaseWidth}},
       [](const Parts& in) {
         return Parts{token_loss(in[0], in[1], 1e-6, in[2], some_ids(), false).mean};
       }},
      {"rms_norm",
       {rows, weight},
       [](const Parts& in) { return Parts{rms_norm(in[0], in[1], 1e-6)}; }},
      {"l2_norm", {heads}, [](const Parts& in) { return Parts{l2_norm(in[0])}; }},
      {"gated_norm",
       {heads, weight, heads},
       [](const Parts& in) { return Parts{gated_norm(in[0], in[1], 1e-6, in[2], "silu")}; }},
      {"short_conv",
       {rows, conv, weight, history},
       [](const Parts& in) { return Parts{short_conv(in[0], in[1], in[2], "silu", in[3])}; }},
  };
}

Parts case_inputs(const FunctionCase& function) {
  at::manual_seed(3);
  Parts inputs;
  for (const PartShape& shape : function.shapes) inputs.push_back(at::randn(shape) * 0.5);
  // Decays are logarithms of what stays.
  if (function.name == "delta_rule") inputs[4] = -inputs[4].abs();
  if (function.name == "low_rank_rule") inputs[1] = -inputs[1].abs();
  return inputs;
}

// A sum in which every output has a share of its own.
at::Tensor case_loss(const FunctionCase& function, const Parts& inputs) {
  at::Tensor sum;
  for (const at::Tensor& output : function.compute(inputs)) {
    const at::Tensor part = (output * (output + 0.3)).sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

class KernelFunctionTest : public testing::TestWithParam<FunctionCase> {};

TEST_P(KernelFunctionTest, GradientsOfGradientsAreRefusedInASentence) {
  Parts inputs = case_inputs(GetParam());
  for (at::Tensor& input : inputs) input.requires_grad_(true);
  const at::Tensor loss = case_loss(GetParam(), inputs);
  const auto with_graph = [&] {
    return torch::autograd::grad({loss}, inputs, {}, true, /*create_graph=*/true, true);
  };
  try {
    with_graph();
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("gradients of gradients"));
    EXPECT_THAT(error.what(), testing::HasSubstr("composed"));
  }
  // First gradients can still be had, again and again.
  EXPECT_NO_THROW(torch::autograd::grad({loss}, inputs, {}, true, false, true));
}

TEST_P(KernelFunctionTest, ItsTwinHasGradientsOfGradients) {
  if (!GetParam().has_twin) GTEST_SKIP();
  const EngineScope composed(Engine::kComposed);
  Parts inputs = case_inputs(GetParam());
  for (at::Tensor& input : inputs) input.requires_grad_(true);
  const auto first = torch::autograd::grad({case_loss(GetParam(), inputs)}, inputs, {}, true, true);
  EXPECT_NO_THROW(torch::autograd::grad({first[0].square().sum()}, inputs, {}, true, false, true));
}

// Notes which gradients a node gave although nobody receives them.
struct GivenInVain : torch::autograd::FunctionPostHook {
  GivenInVain(torch::autograd::Node* node, int& count) : node_(node), count_(count) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      count_ += outputs[i].defined() && !node_->next_edge(i).is_valid();
    return outputs;
  }
  torch::autograd::Node* node_;
  int& count_;
};

void watch(const std::shared_ptr<torch::autograd::Node>& node, int& count, int& nodes,
           std::set<torch::autograd::Node*>& seen) {
  if (node == nullptr || !seen.insert(node.get()).second) return;
  if (node->name().find("CppNode") != std::string::npos) {
    ++nodes;
    node->add_post_hook(std::make_unique<GivenInVain>(node.get(), count));
  }
  for (const torch::autograd::Edge& edge : node->next_edges())
    watch(edge.function, count, nodes, seen);
}

// Frozen weights cost nothing.
TEST_P(KernelFunctionTest, AGradientThatNobodyWantsIsNotComputed) {
  Parts all = case_inputs(GetParam());
  for (at::Tensor& input : all) input.requires_grad_(true);
  const auto wanted = torch::autograd::grad({case_loss(GetParam(), all)}, all, {}, {}, false, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Parts inputs = case_inputs(GetParam());
    inputs[i].requires_grad_(true);
    const at::Tensor loss = case_loss(GetParam(), inputs);
    int in_vain = 0, nodes = 0;
    std::set<torch::autograd::Node*> seen;
    watch(loss.grad_fn(), in_vain, nodes, seen);
    EXPECT_GE(nodes, 1) << "input " << i;
    loss.backward();
    EXPECT_EQ(in_vain, 0) << "input " << i;
    ASSERT_TRUE(inputs[i].grad().defined()) << "input " << i;
    EXPECT_TRUE(at::equal(inputs[i].grad(), wanted[i]))
        << "input " << i << ": " << (inputs[i].grad() - wanted[i]).abs().max().item<double>();
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelFunctionTest, testing::ValuesIn(function_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace shellgame
