#include "shellgame/beliefs/running_belief.h"

#include <gtest/gtest.h>

#include "shellgame/beliefs/filter_failure.h"
#include "shellgame/programs/parse.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/predictions.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

// Piece by piece it gives what the exact filter gives for the whole program.
TEST(RunningBelief, OfPiecesIsTheBeliefOfTheWhole) {
  for (const char* toml :
       {"group = 'S3'\nmoves = 'swaps'\nuncertainty = 'branching'\nspacing = 1\n",
        "group = 'S5'\nuncertainty = 'branching'\nprobability = 0.3\nspacing = 3\n",
        "group = 'S4'\nuncertainty = 'skipped'\nspacing = 2\nreveal-count = 2\n",
        "group = 'S4'\nuncertainty = 'unknown-start'\nspacing = 2\n",
        "group = 'S7'\nuncertainty = 'branching'\nspacing = 4\n",
        "group = 'S4'\nmoves = 'swaps'\nuncertainty = 'branching,unknown-start'\notherwise = "
        "'move'\n"
        "spacing = 2\nreveal-forms = 'print,equal,unequal,member'\nfull-reveal-period = 13\n",
        "group = 'S3'\nuncertainty = 'branching'\ncondition = 'environment'\nspacing = 1\n"}) {
    Task task = parse_task(toml, "task.toml");
    task.commands = 60;
    const Sampler sampler(task);
    Program whole = sampler.sample(3, 5);
    std::vector<RevealMark> marks;
    render(whole, &marks);
    std::erase_if(marks, [&](const RevealMark& mark) { return !shows_value(whole, mark); });
    const auto expected = predictions(whole, marks);

    RunningBelief belief(sampler.names()->size());
    ProgramStream stream(sampler, 3, 5);
    std::vector<std::vector<double>> found, here, marginals;
    std::size_t commands = 0;
    for (Program piece; stream.next(piece, 7);) {
      std::vector<RevealMark> own;
      render(piece, &own);
      std::erase_if(own, [&](const RevealMark& mark) { return !shows_value(piece, mark); });
      belief.read(piece, own, here, &marginals);
      found.insert(found.end(), here.begin(), here.end());
      commands += marginals.size();
    }
    EXPECT_EQ(commands, 60u);
    ASSERT_EQ(found.size(), expected.size()) << toml;
    ASSERT_GT(found.size(), 5u);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].size(), expected[i].size());
      for (std::size_t v = 0; v < found[i].size(); ++v)
        ASSERT_NEAR(found[i][v], expected[i][v], 1e-12) << toml << i;
    }
  }
}

TEST(RunningBelief, ImpossibleEvidenceNamesItsStep) {
  RunningBelief belief(2);
  std::vector<std::vector<double>> predictions;
  const Program right = parse(">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 2\n");
  belief.read(right, {}, predictions);
  try {
    belief.read(parse(">>> a = 1\n>>> b = 2\n>>> print('b', b)\nb 2\n"), {}, predictions);
    ADD_FAILURE();
  } catch (const UsageError&) {  // assigned after the first command
  }
  RunningBelief other(2);
  try {
    other.read(parse(">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 1\n"), {},
               predictions);
    ADD_FAILURE();
  } catch (const ZeroEvidence& error) {
    EXPECT_EQ(error.step(), 2u);
    EXPECT_FALSE(error.underflow());
  }
  EXPECT_THROW(RunningBelief(9), UsageError);
}

}  // namespace
}  // namespace shellgame
