#include "shellgame/probe/heads.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <set>

#include "shellgame/probe/betas.h"
#include "shellgame/probe/intervene.h"
#include "shellgame/probe/keys.h"
#include "shellgame/probe/state.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "tests/models/contract_cases.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

// The number of rows of a probe's report; 0 where it refuses the model.
template <class Probe>
std::size_t rows_of(const Probe& probe) {
  try {
    return probe().at("heads").size();
  } catch (const UsageError&) {
    return 0;
  }
}

TEST(Heads, EveryMixerIsProbedWhereItMakesSenseAndElseRefused) {
  const WholeEpisodes traces = probe_traces("group = 'S3'\ncommands = 6\nspacing = 2\n", 6);
  const std::set<std::string> without_beta = {
      "attention", "attention_window", "lstm", "gru", "slstm", "tanh_rnn", "mamba2",
      "rwkv7",     "two_sided_swaps"};
  for (ContractCase one : contract_cases()) {
    one.config["vocab_size"] = LexemeTokenizer::vocabulary().size();
    const Model model{ModelConfig(one.config), {.seed = 1}};
    std::size_t all = 0, state = 0, beta = 0;
    for (const LayerHeads& layer : heads_of(model)) {
      const auto heads = static_cast<std::size_t>(layer.heads);
      all += heads;
      state += layer.state ? heads : 0;
      beta += layer.beta ? heads : 0;
    }
    EXPECT_EQ(beta == 0, without_beta.contains(one.name)) << one.name;
    EXPECT_EQ(rows_of([&] { return probe_betas(model, traces.all()); }), beta) << one.name;
    EXPECT_EQ(rows_of([&] { return probe_keys(model, traces.all()); }), beta) << one.name;
    EXPECT_EQ(rows_of([&] { return probe_state(model, traces, 2); }), state) << one.name;
    EXPECT_EQ(rows_of([&] {
                return probe_intervene(model, traces.source(), 2, {.change = Change::kAblate});
              }),
              all)
        << one.name;
    EXPECT_EQ(state == 0, one.name.starts_with("attention")) << one.name;
  }
}

TEST(Heads, AMovedStateIsThatOfTheOtherSequenceInOneHeadOnly) {
  LayerState state;
  state.mixer["recurrent"] = at::arange(24, at::kDouble).view({3, 2, 2, 2});
  const at::Tensor before = state.mixer["recurrent"].clone();
  const MixerDeclaration mixer{.heads = 2, .remembers = {{.name = "recurrent", .heads = 2}}};
  move_head_state(state, mixer, 1, at::tensor({1, 2, 0}, at::kLong));
  const at::Tensor after = state.mixer["recurrent"];
  EXPECT_TRUE(after.select(1, 0).equal(before.select(1, 0)));
  EXPECT_TRUE(after[0][1].equal(before[1][1]));
  EXPECT_TRUE(after[2][1].equal(before[0][1]));
}

// Channels are [step, head, width].
TEST(Heads, AHeadsLastInputsMoveWithItsState) {
  LayerState state;
  state.mixer["recurrent"] = at::zeros({2, 3, 2, 4});
  state.mixer["conv_q"] = at::arange(2 * 6, at::kDouble).view({2, 6, 1});
  state.mixer["conv_k"] = at::arange(2 * 12 * 2, at::kDouble).view({2, 12, 2});
  state.mixer["conv_v"] = at::arange(2 * 8, at::kDouble).view({2, 8, 1});  // shared by heads
  const PartState before = state.mixer;
  using enum Remembered::Kind;
  const MixerDeclaration mixer{
      .heads = 3,
      .remembers = {{.name = "recurrent", .heads = 3},
                    {.name = "conv_q", .kind = kInputs, .heads = 3},
                    {.name = "conv_k", .kind = kInputs, .heads = 3, .steps = 2},
                    {.name = "conv_v", .kind = kInputs, .heads = 2}}};
  move_head_state(state, mixer, 1, at::tensor({1, 0}, at::kLong));
  const auto expect_moved = [&](const std::string& name, const std::vector<std::int64_t>& moved) {
    for (std::int64_t c = 0; c < before.at(name).size(1); ++c) {
      const bool other = std::ranges::find(moved, c) != moved.end();
      EXPECT_TRUE(state.mixer[name][0][c].equal(before.at(name)[other ? 1 : 0][c])) << name << c;
      EXPECT_TRUE(state.mixer[name][1][c].equal(before.at(name)[other ? 0 : 1][c])) << name << c;
    }
  };
  expect_moved("conv_q", {2, 3});
  expect_moved("conv_k", {2, 3, 8, 9});
  expect_moved("conv_v", {});
}

TEST(Heads, ATapWithoutHeadsIsRefused) {
  EXPECT_THROW(head_part(at::zeros({1, 4, 10}), "mixed", 0, 3), UsageError);
}

}  // namespace
}  // namespace shellgame
