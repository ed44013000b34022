#include "shellgame/tasks/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/tasks/schedule_plan.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

constexpr char kCycle[] = R"(variables = 3
namings = "all"
steps = [
  {swap = "a c", probability = 0.5},
  {print = "a", shows = "first"},
  {repeat = "N", steps = [{swap = "b c", probability = 0.5, times = 2}, {print = "b", shows = 2}]},
]
[parameters]
N = [1, 4]
[variants]
first = [1, 3]
[[endings]]
name = "c"
steps = [{swap = "a b", probability = 0.5}, {print = "c"}]
[[endings]]
name = "a"
steps = [{swap = "b c", probability = 0.5}, {print = "a"}]
)";

Program whole(const SchedulePlan& plan, std::uint64_t index, std::uint64_t seed = 0) {
  Program program;
  ScheduleStream(plan, seed, index).next(program, plan.commands() + 1);
  return program;
}

std::string refusal(const std::string& toml) {
  try {
    const Schedule schedule = parse_schedule(toml, "x.toml");
    for (const ScheduleCell& cell : cells_of(schedule)) whole(SchedulePlan(schedule, cell), 0);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with_steps(const std::string& steps) {
  return "variables = 3\nsteps = [" + steps + "]\n";
}

TEST(Schedule, HasACellForEveryNumberAndEndingAndATraceForEveryVariantAndNaming) {
  const Schedule schedule = parse_schedule(kCycle, "x.toml");
  const auto cells = cells_of(schedule);
  ASSERT_EQ(cells.size(), 4u);
  const SchedulePlan plan(schedule, cells[2]);  // N = 4, the first ending
  EXPECT_EQ(plan.traces(), 12u);
  EXPECT_EQ(plan.commands(), 10u);
  std::map<std::string, int> texts;
  for (std::uint64_t i = 0; i < 12; ++i) ++texts[render(whole(plan, i))];
  EXPECT_EQ(texts.size(), 12u);
}

TEST(Schedule, TwinsDifferInOneTokenBeforeTheQuestion) {
  const Schedule schedule = parse_schedule(kCycle, "x.toml");
  const SchedulePlan plan(schedule, cells_of(schedule)[0]);
  for (std::uint64_t i = 0; i < 12; i += 2) {
    std::string one = render(whole(plan, i)), two = render(whole(plan, i + 1));
    ASSERT_EQ(one.size(), two.size());
    one.resize(one.size() - 2);  // without the value that is asked for
    int differences = 0;
    for (std::size_t k = 0; k < one.size(); ++k) differences += one[k] != two[k];
    EXPECT_EQ(differences, 1);
  }
}

TEST(Schedule, EveryNamingKeepsTheStartOfTheLanguageAndTheOrderOfASwap) {
  const Schedule schedule = parse_schedule(kCycle, "x.toml");
  const SchedulePlan plan(schedule, cells_of(schedule)[0]);
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Program program = whole(plan, i);
    const std::string text = render(program);
    EXPECT_THAT(text, HasSubstr("import random\n>>> a = 1\n>>> b = 2\n>>> c = 3\n>>> if random"));
    for (const Mixture& mixture : program.table().mixtures)
      EXPECT_LT(mixture.outcomes[0].targets[0], mixture.outcomes[0].targets[1]);
    EXPECT_EQ(parse(text), program);
  }
}

TEST(Schedule, ForcedPrintsShowWhatIsSaidAndTheHiddenNumbersReplayThem) {
  const Schedule schedule = parse_schedule(kCycle, "x.toml");
  for (const ScheduleCell& cell : cells_of(schedule)) {
    const SchedulePlan plan(schedule, cell);
    for (std::uint64_t i = 0; i < 12; ++i) {
      ScheduleStream stream(plan, 7, i);
      Program program;
      std::vector<ValueId> states;
      stream.next(program, plan.commands() + 1, &states);
      // A second machine of its own, on the numbers.
      std::vector<ValueId> state = {0, 1, 2}, all;
      std::size_t next = 0;
      for (const Event& event : program.events()) {
        if (event.kind == EventKind::kPrint) {
          EXPECT_EQ(state[program.variables(event)[0]], program.values(event)[0]);
        }
        if (event.kind != EventKind::kChoose) continue;
        const Mixture& mixture = program.table().mixtures[event.at];
        if (stream.hidden_numbers().at(next++) < mixture.thresholds[0]) {
          const Permute& swap = mixture.outcomes[0];
          std::swap(state[swap.targets[0]], state[swap.targets[1]]);
        }
        all.insert(all.end(), state.begin(), state.end());
      }
      EXPECT_EQ(next, stream.hidden_numbers().size());
      EXPECT_EQ(all, states);
    }
  }
}

TEST(Schedule, PiecesGiveTheSameTraceAndTheSameQuestion) {
  const Schedule schedule = parse_schedule(kCycle, "x.toml");
  const SchedulePlan plan(schedule, cells_of(schedule)[2]);
  const Program one = whole(plan, 5, 3);
  for (const std::uint64_t size : {1u, 2u, 7u}) {
    ScheduleStream stream(plan, 3, 5);
    Program joined, piece;
    std::size_t asked = 0, last = 0;
    for (bool first = true; stream.next(piece, size); first = false) {
      ASSERT_EQ(stream.asked().size(), piece.events().size());
      for (std::size_t k = 0; k < piece.events().size(); ++k) {
        if (!stream.asked()[k]) continue;
        ++asked;
        last = (first ? 0 : joined.events().size()) + k;
      }
      if (first) {
        joined = piece;
      } else {
        joined.append(piece);
      }
    }
    EXPECT_EQ(joined, one);
    EXPECT_EQ(asked, 1u);
    EXPECT_EQ(last + 1, one.events().size());
  }
}

TEST(Schedule, HiddenOutcomesOfAForcedTraceAreThoseOfHonestOnesThatShowTheSame) {
  // P(both taken | b is as before) = .01 / (.01 + .81).
  const Schedule schedule = parse_schedule(
      with_steps("{swap = \"b c\", probability = 0.1, times = 2}, {print = \"b\", shows = 2}"),
      "x.toml");
  const SchedulePlan plan(schedule, cells_of(schedule)[0]);
  int both = 0;
  constexpr int kTraces = 20000;
  for (int i = 0; i < kTraces; ++i) {
    ScheduleStream stream(plan, 1, static_cast<std::uint64_t>(i));
    Program program;
    stream.next(program, 2);
    both += stream.hidden_numbers()[0] < 0.1;
  }
  EXPECT_NEAR(both / double{kTraces}, 0.01 / 0.82, 0.003);
}

TEST(Schedule, ABlockCanHaveOtherRounds) {
  const Schedule schedule = parse_schedule(
      with_steps("{repeat = 16, steps = [{print = \"a\"}], every = 8, at = 2, instead = [{print = "
                 "\"b\"}]}"),
      "x.toml");
  const Program program = whole(SchedulePlan(schedule, cells_of(schedule)[0]), 0);
  std::string shown;
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kPrint)
      shown += program.names().variable(program.variables(event)[0]);
  }
  EXPECT_EQ(shown, "abaaaaaaabaaaaaa");
}

TEST(Schedule, WhatCannotHappenIsRefusedWithItsStep) {
  EXPECT_THAT(
      refusal(with_steps("{swap = \"a b\", probability = 0.5}, {print = \"c\", shows = 1}")),
      HasSubstr("x.toml:2:45: step 2 of the trace: a print of c cannot show 1"));
  EXPECT_THAT(refusal(with_steps(
                  "{swap = \"a b\", probability = 0, outcome = \"taken\"}, {print = \"c\"}")),
              HasSubstr("step 1 of the trace: an outcome of probability 0"));
  EXPECT_EQ(refusal(with_steps("{swap = \"a b\", probability = 1, outcome = \"taken\"}, {print = "
                               "\"a\", shows = 2}")),
            "accepted");
}

TEST(Schedule, WrongFilesAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal("steps = []"), HasSubstr("how many 'variables'"));
  EXPECT_THAT(refusal(with_steps("{swop = \"a b\"}")), HasSubstr("x.toml:2:10: a step must have"));
  EXPECT_THAT(refusal(with_steps("{swap = \"a d\"}")), HasSubstr("from a to c, not 'd'"));
  EXPECT_THAT(refusal(with_steps("{swap = \"a b\", probability = 1.5}")), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal(with_steps("{repeat = \"M\", steps = [{print = \"a\"}]}")),
              HasSubstr("a name of [parameters], not 'M'"));
  EXPECT_THAT(refusal(with_steps("{repeat = 3, steps = []}")), HasSubstr("at least one step"));
  EXPECT_THAT(refusal(with_steps("{repeat = 1000000000, steps = [{print = \"a\"}]}")),
              HasSubstr("at most 100000000 steps"));
  EXPECT_THAT(refusal(with_steps("{print = \"a\", shows = 4}")), HasSubstr("from 1 to 3, not 4"));
}

TEST(Schedule, SettingsKeepNumbersAndEndings) {
  Schedule schedule = parse_schedule(kCycle, "x.toml");
  restrict_schedule(schedule, "N=2,3,5");
  restrict_schedule(schedule, "ending=a");
  EXPECT_EQ(cells_of(schedule).size(), 3u);
  EXPECT_THROW(restrict_schedule(schedule, "M=2"), UsageError);
  EXPECT_THROW(restrict_schedule(schedule, "N=0"), UsageError);
  EXPECT_THROW(restrict_schedule(schedule, "ending=z"), UsageError);
}

}  // namespace
}  // namespace shellgame
