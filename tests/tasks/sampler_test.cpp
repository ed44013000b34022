#include "shellgame/tasks/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

Task task_of(const std::vector<std::pair<std::string, std::string>>& keys) {
  Task task;
  for (const auto& [name, value] : keys) find_task_key(name)->set(task, value);
  return task;
}

// Tasks that between them reach every part of the sampler.
std::vector<Task> many_tasks() {
  return {
      Task(),
      task_of({{"group", "S3"}, {"moves", "swaps"}, {"spacing", "1"}, {"initial-reveal", "one"}}),
      task_of({{"group", "S9"},
               {"reveals", "round-robin"},
               {"reveal-count", "2"},
               {"initial-reveal", "all"}}),
      task_of({{"group", "S40"}, {"moves", "swaps"}, {"full-reveal-period", "7"}}),
      task_of({{"group", "S120"}, {"moves", "swaps"}, {"commands", "200"}}),
      task_of({{"group", "S20"}, {"commands", "20"}}),
      task_of({{"group", "A4xZ5"},
               {"moves", "generators"},
               {"reveals", "fixed"},
               {"reveal-variable", "c"}}),
      task_of({{"group", "D4"}, {"reveals", "none"}}),
      task_of({{"reveal-forms", "print,equal,unequal,member"},
               {"spacing", "1"},
               {"reveal-count", "3"}}),
      task_of({{"uncertainty", "branching"}, {"moves", "swaps"}, {"probability", "0.3"}}),
      task_of({{"uncertainty", "branching"},
               {"condition", "environment"},
               {"otherwise", "move"},
               {"uncertain-share", "0.5"}}),
      task_of({{"uncertainty", "branching"}, {"condition", "external"}, {"group", "S9"}}),
      task_of({{"uncertainty", "skipped"}, {"condition", "external"}, {"group", "S4"}}),
      task_of({{"uncertainty", "skipped"}, {"otherwise", "move"}, {"moves", "swaps"}}),
      task_of({{"uncertainty", "branching,unknown-start"},
               {"group", "S3"},
               {"mixtures", "0.5 (1 2), 0.5 (1 3)"}}),
      task_of({{"uncertainty", "skipped"},
               {"group", "S3"},
               {"mixtures", "0.2 (1 2 3), 0.3 (), 0.5 (1 3)"}}),
      task_of({{"uncertainty", "unknown-start"},
               {"condition", "external"},
               {"values", "red,green,blue,grey,pink"}}),
      task_of({{"stages", "8:1:2,16:2:2,32:4"}}),
  };
}

// Each uncertain command draws one of the probabilities, whatever its move; one alone draws
// nothing.
TEST(Sampler, CommandsDrawTheirProbabilities) {
  for (const char* uncertainty : {"branching", "skipped"}) {
    for (const char* group : {"S3", "S9"}) {
      Task task;
      find_task_key("group")->set(task, group);
      find_task_key("uncertainty")->set(task, uncertainty);
      task.commands = 400;
      const Program one = Sampler(task).sample(1, 2);
      find_task_key("probability")->set(task, "0.1,0.5,0.75");
      EXPECT_EQ(find_task_key("probability")->get(task), "0.1,0.5,0.75");
      const Program program = Sampler(task).sample(1, 2);
      std::map<double, int> seen;
      for (const Event& event : program.events()) {
        if (event.kind == EventKind::kChoose)
          ++seen[program.table().mixtures[event.at].thresholds.at(0)];
        if (event.kind == EventKind::kCall)
          ++seen[program.definition(event).mixture.thresholds.at(0)];
      }
      ASSERT_EQ(seen.size(), 3u) << group;
      for (const auto& [p, count] : seen) EXPECT_GT(count, 80) << p;
      // The text says them, and so does the parser that reads it.
      EXPECT_EQ(render(parse(render(program))), render(program));
      for (const Event& event : one.events()) {
        if (event.kind == EventKind::kChoose) {
          EXPECT_EQ(one.table().mixtures[event.at].thresholds.at(0), 0.5);
        }
      }
    }
  }
  Task task;
  EXPECT_THROW(find_task_key("probability")->set(task, "0.5,1.5"), UsageError);
  EXPECT_THROW(find_task_key("probability")->set(task, ""), UsageError);
}

TEST(Sampler, TextsParseBackToTheProgramAndItsStates) {
  for (const Task& task : many_tasks()) {
    const Sampler sampler(task);
    for (std::uint64_t index = 0; index < 8; ++index) {
      std::vector<ValueId> states;
      const Program program = sampler.sample(3, index, &states);
      const std::string text = render(program);
      const Program parsed = parse(text);
      ASSERT_TRUE(parsed == program) << text;
      const Execution execution = execute(parsed, Sampler::python_seed(3, index));
      EXPECT_FALSE(execution.contradiction) << text;
      std::vector<ValueId> executed;
      for (const State& state : execution.states)
        executed.insert(executed.end(), state.begin(), state.end());
      EXPECT_EQ(executed, states) << text;
    }
  }
}

TEST(Sampler, CachedTextIsTheRenderedText) {
  for (const Task& task : many_tasks()) {
    const Sampler sampler(task);
    const TraceMaker maker(sampler);
    Trace trace;
    for (std::uint64_t index = 0; index < 4; ++index) {
      maker.make(3, index, trace, true);
      std::vector<RevealMark> marks;
      ASSERT_EQ(trace.text.view(), render(trace.program, &marks));
      ASSERT_EQ(trace.reveals.size(), marks.size());
      for (std::size_t i = 0; i < marks.size(); ++i) {
        EXPECT_EQ(trace.reveals[i].offset, marks[i].offset);
        EXPECT_EQ(trace.reveals[i].command, marks[i].command);
      }
    }
  }
}

TEST(Sampler, ManyFormsOfDrawingGiveTheSameProgram) {
  // With or without recording states, the plain and the general loop must agree.
  const Sampler sampler{Task()};
  std::vector<ValueId> states;
  EXPECT_TRUE(sampler.sample(1, 2) == sampler.sample(1, 2, &states));
  EXPECT_FALSE(sampler.sample(1, 2) == sampler.sample(1, 3));
  EXPECT_FALSE(sampler.sample(1, 2) == sampler.sample(2, 2));
}

TEST(ProgramStream, PiecesJoinedAreTheWhole) {
  for (const Task& task : many_tasks()) {
    const Sampler sampler(task);
    const Program whole = sampler.sample(5, 1);
    const std::string whole_text = render(whole);
    for (const std::uint64_t size : {1u, 3u, 7u, 100u}) {
      ProgramStream stream(sampler, 5, 1);
      Program piece, joined;
      std::string text;
      bool first = true;
      while (stream.next(piece, size)) {
        text += render(piece);
        if (first) {
          joined = piece;
        } else {
          joined.append(piece);
        }
        first = false;
      }
      EXPECT_EQ(text, whole_text);
      EXPECT_TRUE(joined == whole);
    }
  }
}

// Draws must not depend on the state: the same places and forms whatever the hidden numbers were.
TEST(Sampler, WhatIsRevealedDoesNotLookAtTheState) {
  // The same task with probability 0 and 1: other states, the same questions.
  const auto questions = [](const char* probability) {
    const Sampler sampler(task_of({{"uncertainty", "branching"},
                                   {"probability", probability},
                                   {"spacing", "1"},
                                   {"reveal-forms", "print,equal,unequal,member"},
                                   {"moves", "swaps"}}));
    std::vector<std::vector<int>> asked;
    for (std::uint64_t index = 0; index < 50; ++index) {
      const Program program = sampler.sample(9, index);
      for (const Event& event : program.events()) {
        if (event.kind == EventKind::kPrint) asked.push_back({0, program.variables(event)[0]});
        if (event.kind != EventKind::kAssert) continue;
        std::vector<int> question{1, program.variables(event)[0]};
        // A member question is a split in two: name it by the half that holds value 0.
        if (event.form == static_cast<std::uint8_t>(Relation::kIn)) {
          std::vector<bool> half(5);
          for (ValueId value : program.values(event)) half[value] = true;
          for (int v = 0; v < 5; ++v)
            question.push_back(half[static_cast<std::size_t>(v)] == half[0]);
        }
        asked.push_back(question);
      }
    }
    return asked;
  };
  const auto never = questions("0.0"), always = questions("1.0");
  EXPECT_EQ(never, always);
  EXPECT_GT(never.size(), 3000u);
}

// The value that `unequal` asks about is drawn blindly, too; the answer is in the operator.
TEST(Sampler, WhichValueIsAskedDoesNotLookAtTheState) {
  const auto asked = [](const char* probability) {
    const Sampler sampler(task_of({{"uncertainty", "branching"},
                                   {"probability", probability},
                                   {"spacing", "1"},
                                   {"reveal-forms", "unequal"},
                                   {"moves", "swaps"}}));
    std::vector<std::pair<int, int>> questions;
    std::size_t equal = 0;
    for (std::uint64_t index = 0; index < 50; ++index) {
      const Program program = sampler.sample(9, index);
      for (const Event& event : program.events()) {
        if (event.kind != EventKind::kAssert) continue;
        questions.emplace_back(program.variables(event)[0], program.values(event)[0]);
        equal += event.form == static_cast<std::uint8_t>(Relation::kEqual);
      }
    }
    return std::make_pair(questions, equal);
  };
  const auto never = asked("0.0"), always = asked("1.0");
  EXPECT_EQ(never.first, always.first);
  EXPECT_EQ(never.first.size(), 3200u);
  EXPECT_NE(never.second, always.second);  // the answers differ, as the states do
  EXPECT_NEAR(static_cast<double>(never.second) / 3200, 0.2, 0.04);
}

TEST(Sampler, MovesAreUniform) {
  // 120 permutations, 64,000 draws: chi-squared with 119 degrees of freedom passes 200 with
  // probability 6e-6.
  const Sampler sampler{Task()};
  std::map<std::uint32_t, double> counts;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Program program = sampler.sample(11, index);
    for (const Event& event : program.events()) {
      if (event.kind == EventKind::kPermute) counts[event.at] += 1;
    }
  }
  EXPECT_EQ(counts.size(), 120u);
  const double expected = 64000.0 / 120;
  double chi_squared = 0;
  for (const auto& [_, count] : counts)
    chi_squared += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_squared, 200);
}

TEST(Sampler, ProbabilityIsTheShareOfMovesThatHappen) {
  const Sampler sampler(task_of(
      {{"uncertainty", "branching"}, {"moves", "swaps"}, {"probability", "0.3"}, {"group", "S3"}}));
  double happened = 0, commands = 0;
  for (std::uint64_t index = 0; index < 500; ++index) {
    std::vector<ValueId> states;
    sampler.sample(1, index, &states);
    std::vector<ValueId> before{0, 1, 2};
    for (std::size_t i = 0; i < states.size(); i += 3) {
      const std::vector<ValueId> after(states.begin() + static_cast<std::ptrdiff_t>(i),
                                       states.begin() + static_cast<std::ptrdiff_t>(i) + 3);
      happened += after != before;
      commands += 1;
      before = after;
    }
  }
  // Standard deviation 0.0026 at 32,000 commands.
  EXPECT_NEAR(happened / commands, 0.3, 0.013);
}

TEST(Sampler, SkippedSwapsShareOneFunction) {
  const std::string text =
      render(Sampler(task_of({{"uncertainty", "skipped"}, {"moves", "swaps"}})).sample(0, 0));
  EXPECT_THAT(text, ::testing::HasSubstr(
                        "def work1(x1, x2): return (x2, x1) if random() < 0.5 else (x1, x2)"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("work2")));
}

TEST(Sampler, ImpossibleTasksAreRefused) {
  EXPECT_THROW(Sampler(task_of({{"group", "A5"}, {"moves", "swaps"}})), UsageError);
  EXPECT_THROW(Sampler(task_of({{"group", "S40"}, {"moves", "generators"}})), UsageError);
  EXPECT_THROW(Sampler(task_of({{"group", "S1"}, {"moves", "swaps"}})), UsageError);
}

// A cycle as the text shows it: its commands, and the variable that is shown after them.
struct ShownCycle {
  std::vector<std::uint32_t> commands;
  VariableId shown = 0;
  friend bool operator==(const ShownCycle&, const ShownCycle&) = default;
};

std::vector<ShownCycle> cycles_of(const Program& program) {
  std::vector<ShownCycle> cycles(1);
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kChoose) cycles.back().commands.push_back(event.at);
    if (event.kind != EventKind::kPrint) continue;
    cycles.back().shown = program.variables(event)[0];
    cycles.emplace_back();
  }
  cycles.pop_back();
  return cycles;
}

// The lengths of the longest stretches of equal cycles, each of which keeps one command.
std::vector<std::size_t> kept_stretches(const std::vector<ShownCycle>& cycles) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < cycles.size();) {
    std::size_t end = i + 1;
    while (end < cycles.size() && cycles[end] == cycles[i]) ++end;
    const auto& commands = cycles[i].commands;
    if (std::ranges::count(commands, commands[0]) == std::ssize(commands))
      lengths.push_back(end - i);
    i = end;
  }
  return lengths;
}

Task sticky_task(const std::string& share, const std::string& cycles, const std::string& gap) {
  return task_of({{"group", "S3"},
                  {"moves", "swaps"},
                  {"commands", "400"},
                  {"spacing", "2"},
                  {"uncertainty", "branching"},
                  {"probability", "0,0.1,0.5,1"},
                  {"sticky-share", share},
                  {"sticky-cycles", cycles},
                  {"sticky-gap", gap}});
}

TEST(StickyRuns, KeepOneCommandAndOneOfItsVariablesForTheDrawnCycles) {
  const Sampler sampler(sticky_task("1", "5", "1"));
  for (std::uint64_t index = 0; index < 20; ++index) {
    const Program program = sampler.sample(3, index);
    const std::vector<ShownCycle> cycles = cycles_of(program);
    ASSERT_EQ(cycles.size(), 200u);
    // One ordinary cycle, then five that are equal, and so on.
    for (std::size_t from = 1; from + 5 <= cycles.size(); from += 6) {
      const ShownCycle& first = cycles[from];
      EXPECT_EQ(first.commands, std::vector<std::uint32_t>(2, first.commands[0]));
      EXPECT_THAT(program.table().mixtures[first.commands[0]].outcomes[0].targets,
                  testing::Contains(first.shown));
      for (std::size_t k = 1; k < 5; ++k) EXPECT_EQ(cycles[from + k], first);
    }
  }
}

TEST(StickyRuns, StandInTheAskedShareOfTheTraces) {
  const Sampler half(sticky_task("0.5", "8-12", "1-4")), none(sticky_task("0", "8-12", "1-4"));
  std::size_t with = 0, without = 0;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const auto longest = [&](const Sampler& sampler) {
      return std::ranges::max(kept_stretches(cycles_of(sampler.sample(1, index))));
    };
    with += longest(half) >= 8;
    without += longest(none) >= 8;
  }
  EXPECT_NEAR(static_cast<double>(with), 200, 40);
  EXPECT_EQ(without, 0u);
}

TEST(StickyRuns, QuestionsAfterRunsAreUniformAndDoNotLookAtTheState) {
  // Same draws, other hidden numbers: what is done and shown is the same.
  Task task = sticky_task("1", "1-12", "1-2");
  std::map<VariableId, int> asked;
  const Sampler sampler(task);
  task.probabilities = {1, 0.5, 0.1, 0};
  const Sampler other(task);
  for (std::uint64_t index = 0; index < 300; ++index) {
    const auto one = cycles_of(sampler.sample(2, index)), two = cycles_of(other.sample(2, index));
    EXPECT_EQ(one, two);
    for (std::size_t k = 1; k < one.size(); ++k) {
      if (one[k - 1].commands[0] == one[k - 1].commands[1] &&
          one[k].commands[0] != one[k].commands[1])
        ++asked[one[k].shown];
    }
  }
  const double all = asked[0] + asked[1] + asked[2];
  for (VariableId v = 0; v < 3; ++v) EXPECT_NEAR(asked[v] / all, 1. / 3, 0.03);
}

TEST(StickyRuns, StreamsGiveTheSameProgramInPiecesOfAnySize) {
  for (const char* kind : {"branching", "skipped"}) {
    Task task = sticky_task("1", "1-7", "1-3");
    find_task_key("uncertainty")->set(task, kind);
    const Sampler sampler(task);
    const Program whole = sampler.sample(5, 1);
    EXPECT_EQ(parse(render(whole)), whole);
    for (const std::uint64_t size : {1u, 3u, 64u}) {
      ProgramStream stream(sampler, 5, 1);
      Program joined, piece;
      for (bool first = true; stream.next(piece, size); first = false) {
        if (first)
          joined = piece;
        else
          joined.append(piece);
      }
      EXPECT_EQ(joined, whole) << kind << " " << size;
    }
  }
}

TEST(StickyRuns, NeedReveals) {
  Task task = sticky_task("1", "1-7", "1-3");
  task.reveals = Reveals::kNone;
  EXPECT_THROW(check_task(task), UsageError);
  EXPECT_THROW(find_task_key("sticky-cycles")->set(task, "4-3"), UsageError);
}

}  // namespace
}  // namespace shellgame
