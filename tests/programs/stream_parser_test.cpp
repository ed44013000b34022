#include "shellgame/programs/stream_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/text/error.h"
#include "tests/support/program_generator.h"

namespace shellgame {
namespace {

// The text of the events, each rendered as it comes.
StreamParser::Read append_to(std::string& text, std::uint64_t& environment) {
  return [&](const Program& program, const Event& event) {
    render_event(program, event, environment, text);
  };
}

RC_GTEST_PROP(StreamParser, PartsGiveTheEventsOfTheWhole, ()) {
  const Program program = *arbitrary_program();
  const std::string text = render(program);
  StreamParser parser;
  std::string found;
  std::uint64_t environment = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto size = *rc::gen::inRange<std::size_t>(1, 40);
    parser.feed(text.substr(at, size), append_to(found, environment));
    at += size;
  }
  // A prompt completes the last example.
  parser.feed(">>> ", append_to(found, environment));
  // First values become events when a variable is used, which a program may never do.
  if (program.commands() > 0) RC_ASSERT(found == text);
}

RC_GTEST_PROP(StreamParser, WhatIsShownNextIsKnownBeforeIt, ()) {
  const Program program = *arbitrary_program();
  std::vector<RevealMark> marks;
  const std::string text = render(program, &marks);
  for (const RevealMark& mark : marks) {
    if (!shows_value(program, mark)) continue;
    StreamParser parser;
    std::string found;
    std::uint64_t environment = 0;
    parser.feed(text.substr(0, mark.offset), append_to(found, environment));
    const auto asked = parser.pending_value(append_to(found, environment));
    RC_ASSERT(asked.has_value());
    RC_ASSERT(asked->variable == mark.variable);
    RC_ASSERT(asked->begun.empty());
    // All that came before is read, the values of the same print too.
    RC_ASSERT(text.starts_with(found));
    RC_ASSERT(found.size() + parser.pending().size() == mark.offset);
  }
}

TEST(StreamParser, AQuestionMayBeTheFirstUseOfAVariable) {
  StreamParser parser;
  std::string found;
  std::uint64_t environment = 0;
  parser.feed(">>> a = 1\n>>> b = 2\n>>> print('b', b)\nb ", append_to(found, environment));
  EXPECT_EQ(found, "");
  const auto asked = parser.pending_value(append_to(found, environment));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->variable, 1);
  EXPECT_EQ(found, ">>> a = 1\n>>> b = 2\n");
}

TEST(StreamParser, NothingIsAskedInsideACommand) {
  StreamParser parser;
  std::string found;
  std::uint64_t environment = 0;
  parser.feed(">>> a = 1\n>>> b = 2\n>>> a, b = b", append_to(found, environment));
  EXPECT_FALSE(parser.pending_value(append_to(found, environment)));
}

TEST(StreamParser, WrongTextIsNamed) {
  StreamParser parser("row 3");
  EXPECT_THROW(parser.feed(">>> a = 1\n>>> a, b = b, a\n>>> ", [](const auto&, const auto&) {}),
               InputError);
}

}  // namespace
}  // namespace shellgame
