#include "shellgame/probe/cycle.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/episodes/schedule_source.h"
#include "shellgame/random/seeds.h"
#include "shellgame/text/error.h"
#include "tests/probe/probe_models.h"

namespace shellgame {
namespace {

// All traces of a cell of the experiment under uncertainty.
WholeEpisodes traces_of(const std::string& name, const std::string& cycles,
                        const std::string& ending = "c") {
  const auto plan =
      schedule_cells(SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/" + name + ".toml",
                     {"N=" + cycles, "ending=" + ending})
          .front();
  return {std::make_unique<ScheduleSource>(
              plan, lexeme_tokenizer(), SourceOptions{.seed = evaluation_seed(0), .steps = true}),
          12};
}

Model untrained_of(int layers, const std::string& type = "delta_net") {
  nlohmann::json keys = {{"model_type", type},
                         {"hidden_size", 32},
                         {"num_hidden_layers", layers},
                         {"intermediate_size", 40},
                         {"vocab_size", lexeme_tokenizer().vocabulary_size()},
                         {"initializer_range", 0.3}};
  if (type != "shellgame_lstm") keys["num_heads"] = 2;
  if (type == "delta_net") keys["allow_neg_eigval"] = true;
  return Model(ModelConfig(keys), {.seed = 3});
}

TEST(CycleTraces, PutTogetherAgainTheyAreTheTraces) {
  const WholeEpisodes episodes = traces_of("M5", "5");
  const auto& traces = episodes.all();
  const CycleTraces cut = cycle_of(traces);
  EXPECT_EQ(cut.cycle.size(1), 44);
  EXPECT_EQ(cut.twins.size(), 6u);  // of 12 traces under 6 names
  for (std::size_t r = 0; r < traces.size(); ++r) {
    std::vector<at::Tensor> parts = {cut.prefix[static_cast<std::int64_t>(r)]};
    for (int i = 0; i < 5; ++i) parts.push_back(cut.cycle[static_cast<std::int64_t>(r)]);
    parts.push_back(cut.ending[static_cast<std::int64_t>(r)]);
    const at::Tensor all = at::cat(parts);
    const std::size_t end = traces[r].questions.back().after + 1;
    ASSERT_EQ(all.numel(), static_cast<std::int64_t>(end));
    for (std::size_t t = 0; t < end; ++t)
      ASSERT_EQ(all[static_cast<std::int64_t>(t)].item<std::int64_t>(), traces[r].ids[t]) << t;
  }
  for (const auto& [a, b] : cut.twins)
    EXPECT_NE(cut.truths[static_cast<std::size_t>(a)], cut.truths[static_cast<std::size_t>(b)]);
}

TEST(CycleTraces, WhatDoesNotRepeatIsRefused) {
  EXPECT_THROW(cycle_of({}), UsageError);
  EXPECT_THROW(cycle_of(traces_of("M5", "1").all()), UsageError);
  EXPECT_THROW(
      cycle_of(
          probe_traces("group = 'S3'\nmoves = 'swaps'\ncommands = 24\nspacing = 2\n", 3).all()),
      UsageError);
}

// The misses of the probe are those of the whole traces, read at once.
TEST(Cycle, MissesAreThoseOfWholeTraces) {
  const Model model = untrained_of(2);
  const at::NoGradGuard no_gradients;
  const auto report = probe_cycle(model, traces_of("M5", "4").all(),
                                  {.cycles = {1, 3, 6}, .measured = {}, .rounded = {}});
  for (const auto& [place, cycles] : {std::pair{0, 1}, {1, 3}, {2, 6}}) {
    double sum = 0;
    const WholeEpisodes whole = traces_of("M5", std::to_string(cycles));
    for (const WholeEpisode& trace : whole.all()) {
      const Question& question = trace.questions.back();
      const auto size = static_cast<std::int64_t>(question.after) + 1;
      const at::Tensor ids =
          at::tensor(at::ArrayRef<std::int64_t>(trace.ids).slice(0, static_cast<std::size_t>(size)),
                     at::kLong);
      const at::Tensor logits = model.logits(ids.unsqueeze(0))[0][size - 1].to(at::kDouble);
      std::vector<std::int64_t> tokens;
      for (std::uint32_t v = 0; v < 3; ++v) tokens.push_back(question.values->tokens(v).front());
      const at::Tensor p = logits.index_select(0, at::tensor(tokens, at::kLong)).softmax(0);
      sum += 1 - p[question.value].item<double>();
    }
    EXPECT_NEAR(report.at("cells").at(place).at("miss").get<double>(), sum / 12, 1e-6) << cycles;
  }
}

// With one layer the inputs repeat exactly, and the state after any number of cycles follows.
TEST(Cycle, OfOneLayerTheMonodromyPredictsTheAnswer) {
  const Model model = untrained_of(1);
  const auto report = probe_cycle(model, traces_of("M5", "4").all(),
                                  {.cycles = {1, 5, 16, 64}, .measured = {3}, .rounded = {}});
  bool moved = false;
  for (std::size_t i = 1; i < 4; ++i) {
    const auto& cell = report.at("cells").at(i);
    EXPECT_NEAR(cell.at("predicted_3").get<double>(), cell.at("miss").get<double>(), 2e-5);
    moved = moved || std::abs(cell.at("miss").get<double>() -
                              report.at("cells").at(0).at("miss").get<double>()) > 1e-3;
  }
  EXPECT_TRUE(moved) << "the answer must depend on the number of cycles";
  EXPECT_FALSE(report.at("cells").at(0).contains("predicted_3"));
  for (const auto& head : report.at("heads")) {
    EXPECT_EQ(head.at("spectrum_3").size(), 8u);
    EXPECT_LE(head.at("largest_3").get<double>(), 1 + 1e-9);
  }
}

TEST(Cycle, TwinsOfAOneLayerDeltaRuleFollowTheMonodromy) {
  const Model model = untrained_of(1);
  const at::NoGradGuard no_gradients;
  const CycleTraces traces = cycle_of(traces_of("M5", "4").all());
  ModelState state;
  model.logits(traces.prefix, &state);
  for (int i = 0; i < 3; ++i) model.logits(traces.cycle, &state);
  const std::vector<Monodromy> heads = measure_monodromy(model, traces, state);
  ASSERT_EQ(heads.size(), 2u);
  const auto& [a, b] = traces.twins.front();
  for (int i = 0; i < 4; ++i) model.logits(traces.cycle, &state);
  for (const Monodromy& head : heads) {
    const at::Tensor s =
        state.layers[0].mixer.at("recurrent").select(1, head.place.head).to(at::kDouble);
    at::Tensor apart = head.start[a] - head.start[b];
    EXPECT_GT(apart.norm().item<double>(), 1e-3);
    for (int i = 0; i < 5; ++i) apart = at::matmul(head.m[a], apart);
    EXPECT_LT((apart - (s[a] - s[b])).norm().item<double>(), 1e-4);
  }
}

TEST(Cycle, OtherCellsHaveNoMonodromyAndTheRestOfTheAnswer) {
  const Model model = untrained_of(1, "shellgame_lstm");
  const auto report = probe_cycle(model, traces_of("Z", "4").all(),
                                  {.cycles = {1, 8}, .measured = {3}, .rounded = {"fp16", "fp32"}});
  const auto& last = report.at("cells").at(1);
  EXPECT_FALSE(last.contains("predicted_3"));
  EXPECT_NEAR(last.at("miss_fp32").get<double>(), last.at("miss").get<double>(), 1e-5);
  EXPECT_NE(last.at("miss_fp16"), last.at("miss_fp32"));
  EXPECT_EQ(report.at("cells").at(0).at("twins"), 1.0);
  ASSERT_EQ(report.at("heads").size(), 1u);
  // An LSTM's whole state is its one head: given back what it held, it answers as then.
  const auto early =
      probe_cycle(model, traces_of("Z", "4").all(), {.cycles = {8}, .measured = {}, .rounded = {}});
  EXPECT_NEAR(report.at("heads").at(0).at("restored").get<double>(),
              early.at("cells").at(0).at("miss").get<double>(), 1e-6);
}

TEST(Cycle, WrongQuestionsAreRefused) {
  const Model model = untrained_of(1);
  const WholeEpisodes episodes = traces_of("M5", "4");
  const auto& traces = episodes.all();
  EXPECT_THROW(probe_cycle(model, traces, {.cycles = {4, 1}}), UsageError);
  EXPECT_THROW(probe_cycle(model, traces, {.cycles = {}}), UsageError);
  EXPECT_THROW(probe_cycle(model, traces, {.cycles = {1}, .rounded = {"fp8"}}), UsageError);
  EXPECT_THROW(probe_cycle(untrained_model("attention"), traces, {.cycles = {1}}), UsageError);
}

}  // namespace
}  // namespace shellgame
