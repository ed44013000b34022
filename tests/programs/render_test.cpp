#include "shellgame/programs/render.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "tests/support/program_generator.h"

namespace rc {
template <>
struct Arbitrary<shellgame::Program> {
  static Gen<shellgame::Program> arbitrary() { return shellgame::arbitrary_program(7); }
};
}  // namespace rc

namespace shellgame {

void showValue(const Program& program, std::ostream& out) { out << render(program); }

namespace {

RC_GTEST_PROP(Render, ParseGivesTheProgramBack, (const Program& program)) {
  const std::string text = render(program);
  RC_ASSERT(parse(text) == program);
  RC_ASSERT(render(parse(text)) == text);
}

RC_GTEST_PROP(Render, EvidenceThatContradictsItselfIsReadAsItIsWritten, ()) {
  const Program program = *arbitrary_program(7, Evidence::kAny);
  RC_ASSERT(parse(render(program)) == program);
}

RC_GTEST_PROP(Render, MarksPointAtTheValues, (const Program& program)) {
  std::vector<RevealMark> marks;
  const std::string text = render(program, &marks);
  std::size_t shown = 0;
  for (const Event& event : program.events()) {
    if (event.kind == EventKind::kPrint || event.kind == EventKind::kAssert)
      shown += program.values(event).size();
  }
  RC_ASSERT(marks.size() == shown);
  for (const RevealMark& mark : marks) {
    RC_ASSERT(text.substr(mark.offset, mark.length) == program.names().value(mark.value).text);
  }
}

RC_GTEST_PROP(Render, ExecutingTheParsedTextFindsNoContradiction, (const Program& program)) {
  RC_ASSERT(!execute(parse(render(program)), 7).contradiction);
}

TEST(Render, VariablesPastZAreNumbered) {
  EXPECT_EQ(scheme_variable(0), "a");
  EXPECT_EQ(scheme_variable(25), "z");
  EXPECT_EQ(scheme_variable(26), "v1");
  EXPECT_EQ(scheme_index("v1"), 26u);
  EXPECT_EQ(scheme_index("v"), 21u);
  EXPECT_EQ(scheme_index("v0"), std::nullopt);
  EXPECT_EQ(scheme_index("v01"), std::nullopt);
}

}  // namespace
}  // namespace shellgame
