#include "shellgame/episodes/schedule_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "shellgame/numbers/rational.h"
#include "shellgame/replay/replay.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/byte_tokenizer.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

std::string shipped(const std::string& name) {
  return SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/" + name + ".toml";
}

// The belief about the last print in exact fractions, over all states, from the events alone.
std::vector<Rational> exact_belief(const Program& program) {
  std::map<std::vector<ValueId>, Rational> mass;
  std::vector<ValueId> start;
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kAssign) start.push_back(program.values(event)[0]);
  }
  mass[start] = 1;
  std::vector<Rational> predicted;
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kChoose) {
      const Mixture& mixture = program.table().mixtures[event.at];
      const Rational p = rational_from(mixture.thresholds[0]);
      std::map<std::vector<ValueId>, Rational> next;
      for (const auto& [state, weight] : mass) {
        std::vector<ValueId> swapped = state;
        std::swap(swapped[mixture.outcomes[0].targets[0]], swapped[mixture.outcomes[0].targets[1]]);
        next[swapped] += weight * p;
        next[state] += weight * (1 - p);
      }
      mass = std::move(next);
    }
    if (event.kind != EventKind::kPrint) continue;
    predicted.assign(start.size(), 0);
    const VariableId variable = program.variables(event)[0];
    for (const auto& [state, weight] : mass) predicted[state[variable]] += weight;
    const ValueId seen = program.values(event)[0];
    const Rational all = predicted[seen];
    std::erase_if(mass, [&](const auto& item) { return item.first[variable] != seen; });
    for (auto& [state, weight] : mass) weight /= all;
  }
  return predicted;
}

class ShippedSchedule : public testing::TestWithParam<const char*> {};

TEST_P(ShippedSchedule, HasTheExactBeliefOfTheDesignAtEveryQuestion) {
  const std::string name = GetParam();
  const bool graded = name.starts_with("graded");
  const LexemeTokenizer tokenizer;
  for (const auto& plan : schedule_cells(shipped(name), {"N=1,4,8,16"})) {
    const ScheduleSource source(plan, tokenizer, {.seed = 5});
    EXPECT_EQ(source.episodes(), graded ? 24u : name == "MR" ? 64u : 12u);
    for (std::uint64_t i = 0; i < source.episodes(); ++i) {
      Piece piece;
      source.whole(i, piece);
      ASSERT_EQ(piece.questions.size(), 1u);
      const Question& question = piece.questions[0];
      EXPECT_EQ(question.after + 3, piece.ids.size());  // the value and its newline come after it
      EXPECT_EQ(question.command, plan->commands());
      Program program;
      ScheduleStream(*plan, 5, i).next(program, plan->commands() + 1);
      const std::vector<Rational> exact = exact_belief(program);
      std::vector<Rational> sorted = exact;
      std::ranges::sort(sorted);
      if (graded) {
        EXPECT_EQ(sorted.back(), Rational(41, 50));
        EXPECT_EQ(sorted[sorted.size() - 2], Rational(9, 50));
      } else {
        EXPECT_EQ(sorted.back(), 1);
        EXPECT_EQ(exact[question.value], 1);
      }
      for (std::size_t v = 0; v < exact.size(); ++v)
        EXPECT_NEAR(question.belief[v], to_double(exact[v]), 1e-12);
    }
  }
}

TEST_P(ShippedSchedule, IsConfirmedByCPython) {
  Replay replay({.processes = 1, .doctest_every = 20});
  std::uint64_t index = 0;
  for (const auto& plan : schedule_cells(shipped(GetParam()), {"N=1,4,9"})) {
    for (std::uint64_t i = 0; i < plan->traces(); ++i) {
      ScheduleStream stream(*plan, 1, i);
      Program program;
      stream.next(program, plan->commands() + 1);
      replay.add(index++, render(program), stream.python_seed(),
                 plan->forced() ? &stream.hidden_numbers() : nullptr);
    }
  }
  const ReplayReport report = replay.finish();
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.isolated, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSchedule,
                         testing::Values("Z", "D", "M5", "M1", "R", "MR", "graded-Z", "graded-D",
                                         "graded-M5"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ScheduleSource, LongTracesComeInPiecesAndKeepTheirBelief) {
  const LexemeTokenizer tokenizer;
  const auto plan = schedule_cells(shipped("graded-M5"), {"N=2048"})[0];
  const ScheduleSource source(plan, tokenizer, {.seed = 1});
  const auto episode = source.episode(3);
  std::size_t pieces = 0, tokens = 0;
  std::vector<Question> questions;
  for (Piece piece; episode->next(piece, 512); ++pieces) {
    EXPECT_LT(piece.ids.size(), 20000u);
    tokens += piece.ids.size();
    questions.insert(questions.end(), piece.questions.begin(), piece.questions.end());
  }
  EXPECT_GT(pieces, 10u);
  EXPECT_EQ(tokens, source.tokens());
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_NEAR(std::ranges::max(questions[0].belief), 0.82, 1e-12);
}

TEST(ScheduleSource, TokensAreThoseOfTheTextWithAnyTokenizer) {
  const LexemeTokenizer lexemes;
  const ByteTokenizer bytes;
  const auto plan = schedule_cells(shipped("R"), {"N=9", "ending=b"})[0];
  Program program;
  ScheduleStream(*plan, 2, 4).next(program, plan->commands() + 1);
  for (const Tokenizer* tokenizer :
       {static_cast<const Tokenizer*>(&lexemes), static_cast<const Tokenizer*>(&bytes)}) {
    const ScheduleSource source(plan, *tokenizer, {.seed = 2, .steps = true});
    Piece piece;
    source.whole(4, piece);
    EXPECT_EQ(piece.ids, tokenizer->encode(render(program)));
    EXPECT_EQ(piece.steps.size(), plan->commands());
  }
}

TEST(ScheduleSource, AxesNameTheCell) {
  const LexemeTokenizer tokenizer;
  const auto plan = schedule_cells(shipped("M5"), {"N=16", "ending=a"})[0];
  const ScheduleSource source(plan, tokenizer, {});
  EXPECT_EQ(axes_words(source.axes()), "schedule M5, N 16, ending a");
}

TEST(ScheduleSource, ForcedSchedulesAreRefusedForTraining) {
  const LexemeTokenizer tokenizer;
  const SourceOptions training{.may_be_silent = true};
  const ScheduleData forced(schedule_cells(shipped("M5"), {"N=1"})[0]);
  EXPECT_THROW(forced.source(&tokenizer, training), UsageError);
  EXPECT_NO_THROW(forced.source(&tokenizer, {}));
  const ScheduleData honest(schedule_cells(shipped("MR"), {"N=1"})[0]);
  EXPECT_NO_THROW(honest.source(&tokenizer, training));
}

TEST(ScheduleSource, ToTrainOnThereIsNoEndAndEachTraceHasOutcomesOfItsOwn) {
  const LexemeTokenizer tokenizer;
  const ScheduleData data(schedule_cells(shipped("MR"), {"N=8", "ending=c"})[0]);
  const auto judged = data.source(&tokenizer, {.seed = 3});
  const auto trained = data.source(&tokenizer, {.seed = 3, .may_be_silent = true});
  EXPECT_EQ(judged->episodes(), 64u);
  EXPECT_EQ(trained->episodes(), 0u);
  Piece first, again, later;
  judged->whole(2, first);
  judged->whole(66, again);
  trained->whole(66, later);
  EXPECT_EQ(first.ids, again.ids);
  EXPECT_NE(first.ids, later.ids);
}

constexpr char kCertificate[] = R"({"format": "shellgame decay certificate", "version": 1, "n": 3,
 "representation": "joint", "task": "", "start": [{"order": [1, 2, 3], "probability": "1"}],
 "symbols": {"mix": {"mixture": [{"probability": "1/2", "from": [1, 2, 3]},
                                 {"probability": "1/2", "from": [1, 3, 2]}]},
             "b 2": {"reveal": {"variable": 2, "value": 2}}},
 "before": [], "cycle": ["mix", "b 2"],
 "claims": {"repetitions": 2, "factor_per_cycle": "1/2", "norms": ["1", "1/2", "1/4"]}})";

TEST(ScheduleSource, ACertificateOfTheAdversaryIsASchedule) {
  Schedule schedule = parse_any_schedule(kCertificate, "cycle.json");
  EXPECT_EQ(cells_of(schedule).size(), 3u);  // N = 2, an ending for each variable
  restrict_schedule(schedule, "N=5");
  restrict_schedule(schedule, "ending=c");
  const SchedulePlan plan(schedule, cells_of(schedule)[0]);
  EXPECT_EQ(plan.commands(), 6u);
  Program program;
  ScheduleStream(plan, 0, 0).next(program, plan.commands() + 1);
  const std::string text = render(program);
  EXPECT_THAT(text, HasSubstr(">>> if random() < 0.5: b, c = c, b\n>>> print('b', b)\nb 2\n"));
  EXPECT_EQ(exact_belief(program)[2], 1);
}

}  // namespace
}  // namespace shellgame
