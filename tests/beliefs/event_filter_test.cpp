#include "shellgame/beliefs/event_filter.h"

#include <gtest/gtest.h>

#include "shellgame/programs/render.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/traces/predictions.h"

namespace shellgame {
namespace {

const char* const kStreamTasks[] = {
    "group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'\nspacing = 1\n",
    "group = 'S4'\nuncertainty = 'skipped'\nspacing = 2\nreveal-count = 2\n",
    "group = 'S4'\nuncertainty = 'unknown-start'\nspacing = 2\nreveal-forms = "
    "'print,equal,member'\n",
    "group = 'S5'\nmoves = 'swaps'\nuncertainty = 'branching'\nprobability = [0.1, 0.5]\nspacing = "
    "3\n"};

Program sampled(const char* toml, std::uint64_t index, std::uint64_t commands = 40) {
  Task task = parse_task(toml, "task.toml");
  task.commands = commands;
  return Sampler(task).sample(1, index);
}

// What the filter says at every value that is shown, part by part of a print.
std::vector<std::vector<double>> along(EventFilter& filter, const Program& program) {
  std::vector<std::vector<double>> result;
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kPrint) {
      for (std::size_t part = 0; part < event.count; ++part) {
        result.push_back(filter.predict(program.variables(event)[part]));
        Program print(program.shared_names(), program.shared_table());
        print.add_print(false, program.variables(event), program.values(event));
        filter.read_part(print, part);
      }
    } else if (event.kind == EventKind::kAssert &&
               static_cast<Relation>(event.form) == Relation::kEqual) {
      result.push_back(filter.predict(program.variables(event)[0]));
    }
    filter.read(program, event);
  }
  return result;
}

std::vector<std::vector<double>> exact(const Program& program) {
  std::vector<RevealMark> marks;
  render(program, &marks);
  std::erase_if(marks, [&](const RevealMark& mark) { return !shows_value(program, mark); });
  return predictions(program, marks);
}

void expect_near(const std::vector<std::vector<double>>& found,
                 const std::vector<std::vector<double>>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_GT(found.size(), 5u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t v = 0; v < found[i].size(); ++v)
      EXPECT_NEAR(found[i][v], expected[i][v], tolerance) << i << " " << v;
  }
}

TEST(EventFilter, RowsThatShareABookHaveTheirOwnBeliefs) {
  for (const char* toml : kStreamTasks) {
    SymbolBook book;
    for (std::uint64_t index = 0; index < 4; ++index) {
      const Program program = sampled(toml, index);
      EventFilter filter(book, {});
      expect_near(along(filter, program), exact(program), 1e-12);
    }
  }
}

TEST(EventFilter, EveryKindGivesTheBeliefWhileItLives) {
  const Program program = sampled(kStreamTasks[0], 2);
  for (const FilterKind kind : {FilterKind::kLog, FilterKind::kLinear, FilterKind::kGain,
                                FilterKind::kRational, FilterKind::kSparse}) {
    SymbolBook book;
    EventFilter filter(book, {.filter = {.kind = kind}});
    expect_near(along(filter, program), exact(program), 1e-9);
    EXPECT_FALSE(filter.broken());
  }
}

TEST(EventFilter, WhatHasNoMassLeftAnswersUniformly) {
  const Program program = sampled(kStreamTasks[0], 0, 2000);
  SymbolBook book;
  EventFilter filter(book,
                     {.filter = {.kind = FilterKind::kLinear, .precision = Precision::kBf16}});
  const auto found = along(filter, program);
  EXPECT_TRUE(filter.broken());
  EXPECT_EQ(found.back(), std::vector<double>(3, 1.0 / 3));
}

// Restarted k commands ago: the exact belief of a text that begins there with an unknown start.
TEST(EventFilter, AWindowIsBayesOfAShorterText) {
  const Program program = sampled(kStreamTasks[0], 3, 60);
  constexpr std::size_t kWindow = 4;
  SymbolBook book;
  EventFilter filter(book, {.window = kWindow});
  const auto found = along(filter, program);
  std::size_t next = 0;
  for (std::size_t end = 0; end < program.events().size(); ++end) {
    if (program.events()[end].kind != EventKind::kPrint) continue;
    std::size_t first = end, commands = 0;
    while (first > 0 && commands < kWindow) commands += is_command(program.events()[--first].kind);
    Program cut(program.shared_names(), program.shared_table());
    const std::vector<std::uint16_t> all = {0, 1, 2};
    if (commands < kWindow) {
      for (const VariableId v : all) cut.add_assign(v, v);
    } else {
      cut.add_start(Condition::kRandom, all, all);
    }
    for (std::size_t i = first; i <= end; ++i) {
      const Event& event = program.events()[i];
      if (event.kind == EventKind::kChoose) cut.add_choose(event.at);
      if (event.kind == EventKind::kPrint)
        cut.add_print(false, program.variables(event), program.values(event));
    }
    const auto expected = exact(cut);
    for (std::size_t v = 0; v < 3; ++v) EXPECT_NEAR(found[next][v], expected.back()[v], 1e-12);
    ++next;
  }
  EXPECT_EQ(next, found.size());
}

}  // namespace
}  // namespace shellgame
