#include "shellgame/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/random/mersenne.h"
#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"
#include "tests/replay/random_texts.h"

namespace shellgame {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr char kListing[] =  // the example of the paper
    ">>> a = 1\n>>> b = 2\n>>> c = 3\n"
    ">>> print('a', a)\na 1\n>>> a, b = b, a\n>>> print('a', a)\na 2\n>>> b, c = c, b\n"
    ">>> print('c', c)\nc 1\n>>> a, c = c, a\n>>> print('a', a)\na 1\n";

// The report on some texts, named 100, 101, ...; both witnesses check all of them.
ReplayReport replay(const std::vector<std::string>& texts, int processes = 1,
                    std::optional<std::uint64_t> seed = std::nullopt) {
  ReplayOptions options;
  options.processes = processes;
  options.doctest_every = 1;
  Replay replay(options);
  for (std::size_t i = 0; i < texts.size(); ++i) replay.add(100 + i, texts[i], seed);
  return replay.finish();
}

// Both witnesses find nothing to object.
void expect_passes(const std::string& text, std::size_t examples, std::size_t outputs,
                   std::optional<std::uint64_t> seed = std::nullopt) {
  const ReplayReport report = replay({text}, 1, seed);
  EXPECT_TRUE(report.passed()) << text;
  for (const Mismatch& m : report.first) {
    ADD_FAILURE() << "line " << m.line << ": " << m.source << "\nexpected: " << m.expected
                  << "\ngot: " << m.got;
  }
  EXPECT_EQ(report.examples, examples) << text;
  EXPECT_EQ(report.outputs, outputs) << text;
  EXPECT_EQ(report.doctest_traces, 1u);
}

// Both witnesses find exactly this.
void expect_one_mismatch(const std::string& text, const Mismatch& expected) {
  const ReplayReport report = replay({kListing, text, kListing});
  EXPECT_EQ(report.mismatches, 1u) << text;
  EXPECT_EQ(report.doctest_failures, 1u) << text;
  EXPECT_EQ(report.disagreements, 0u) << text;
  EXPECT_FALSE(report.passed());
  ASSERT_EQ(report.first.size(), 1u) << text;
  const Mismatch& m = report.first[0];
  EXPECT_EQ(m, expected) << "trace " << m.trace << ", line " << m.line << ": " << m.source
                         << "\nexpected: " << m.expected << "\ngot: " << m.got;
}

TEST(Replay, PassesThePapersListing) {
  const ReplayReport report = replay({kListing});
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.traces, 1u);
  EXPECT_EQ(report.examples, 10u);
  EXPECT_EQ(report.outputs, 4u);
  EXPECT_EQ(report.doctest_traces, 1u);
  EXPECT_GT(report.seconds, 0.0);
  EXPECT_THAT(report.python_version, MatchesRegex("3\\.[0-9]+\\..*"));
}

TEST(Replay, CountsEachFaultOnce) {
  expect_one_mismatch(">>> a = 1\n>>> print('a', a)\na 2\n>>> a = 3\n>>> print(a)\n3\n",
                      {101, 2, "print('a', a)", "a 2", "a 1"});
  expect_one_mismatch(">>> a = 1\n>>> assert a == 1\n>>> assert a in (2, 3)\n>>> a\n1\n",
                      {101, 3, "assert a in (2, 3)", "", "AssertionError"});
  expect_one_mismatch(">>> a = 1\n>>> print('a', a)\n>>> a\n1\n",
                      {101, 2, "print('a', a)", "", "a 1"});
  expect_one_mismatch(">>> a = 1\na 1\n>>> a\n1\n", {101, 1, "a = 1", "a 1", ""});
  expect_one_mismatch(">>> a = 1\n\nprose\n>>> a, = = a\n>>> a\n1\n",
                      {101, 4, "a, = = a", "", "SyntaxError: invalid syntax"});
  expect_one_mismatch(">>> b\n5\n", {101, 1, "b", "5", "NameError: name 'b' is not defined"});
  expect_one_mismatch(">>> print('one\\ntwo')\none\n\n",
                      {101, 1, "print('one\\ntwo')", "one", "one\ntwo"});
  expect_one_mismatch(">>> raise SystemExit(3)\n>>> 1\n1\n",
                      {101, 1, "raise SystemExit(3)", "", "SystemExit: 3"});
  expect_one_mismatch(">>> if True:\n...     print(1)\n...     print(2)\n...\n1\n3\n",
                      {101, 1, "if True:\n    print(1)\n    print(2)", "1\n3", "1\n2"});
  expect_one_mismatch(">>> a = 1\n>>>a\n1\n",
                      {101, 2, ">>>a", "", "a prompt must be followed by a blank"});
  expect_one_mismatch("  >>> 1\n1\n",
                      {101, 2, "1", "", "the indentation must be that of the prompt"});
}

TEST(Replay, RunsBranchesAsTheShellDoes) {
  expect_passes(
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n>>> c = 3\n"
      ">>> if random() < 0.5: a, b = b, a\n"
      ">>> if (draw := random()) < 0.5: a, b = b, a\n... elif draw < 0.75: b, c = c, b\n"
      "... else: pass\n>>> assert a in (1, 2)\n>>> sorted((a, b, c))\n[1, 2, 3]\n",
      8, 1, 0);  // random() is 0.84 and then 0.76 with seed 0
}

TEST(Replay, CutsTextAsDoctestDoes) {
  expect_passes("", 0, 0);
  expect_passes("\n\nno example at all\n", 0, 0);
  expect_passes("prose\n>>> 1\n1\n\nmore prose\n>>> 2\n2", 2, 2);
  expect_passes(">>> 1\n1\n    \nprose after a line of blanks\n", 1, 1);
  expect_passes(">>> # a comment\n>>>\n>>> \n>>> 1\n1\n", 1, 1);
  expect_passes("  >>> 1\n  1\n    >>> print(' 2')\n     2\n", 2, 2);
  expect_passes(">>> def f():\n...     return 5\n...\n>>> f()\n5\n", 2, 1);
  expect_passes(
      ">>> 1/0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n",
      1, 1);
  expect_passes(">>> print('no newline', end='')\nno newline\n", 1, 1);
  expect_passes(">>> print('x >>> y')\nx >>> y\n>>> print('1\\n...')\n1\n...\n", 2, 2);
  expect_passes(">>> import sys\n>>> sys.stdout.write('x')\nx1\n", 2, 1);
}

TEST(Replay, TakesOutputsLiterally) {
  expect_one_mismatch(">>> True\n1\n", {101, 1, "True", "1", "True"});
  expect_one_mismatch(">>> print()\n<BLANKLINE>\n", {101, 1, "print()", "<BLANKLINE>", ""});
  expect_one_mismatch(">>> print(' 1')  # doctest: +NORMALIZE_WHITESPACE\n1\n",
                      {101, 1, "print(' 1')  # doctest: +NORMALIZE_WHITESPACE", "1", " 1"});
  // Carriage returns are characters: sources run with them, outputs differ.
  expect_one_mismatch(">>> a = 1\r\n>>> print(a)\r\n1\r\n", {101, 2, "print(a)\r", "1\r", "1"});
}

TEST(Replay, CarriesAnyBytesUnharmed) {
  expect_passes(
      ">>> s = '\u00e9\u4e2d\U0001F600'\n>>> print(s, len(s))\n\u00e9\u4e2d\U0001F600 3\n", 2, 1);
  expect_one_mismatch(">>> print('\u4e2d')\n\u56fd\n",
                      {101, 1, "print('\u4e2d')", "\u56fd", "\u4e2d"});
  // A lone surrogate has no UTF-8: it is shown escaped.
  expect_one_mismatch(">>> print('\\ud800')\n1\n", {101, 1, "print('\\ud800')", "1", "\\ud800"});
  const ReplayReport report =
      replay({std::string(">>> a = '\xff'\n"), std::string(">>> 1\0\n1\n", 9), kListing});
  EXPECT_EQ(report.mismatches, 2u);
  EXPECT_EQ(report.disagreements, 0u);
}

TEST(Replay, HiddenSourcesHaveThePythonSeed) {
  for (const std::uint64_t seed : {0ull, 1ull, 12345ull, 4294967295ull}) {
    PythonRandom random(seed), load((1ull << 32) + seed), service((2ull << 32) + seed);
    std::string text =
        ">>> from random import random, getrandbits\n>>> from os import environ\n"
        ">>> from service import fetch, start\n";
    std::size_t outputs = 0;
    const auto expect = [&](const std::string& source, const std::string& output) {
      text += ">>> " + source + "\n" + output + "\n";
      ++outputs;
    };
    for (int i = 1; i <= 40; ++i) {
      expect("random()", fmt::format("{}", random.random()));
      expect(fmt::format("environ['LOAD_{}']", i), fmt::format("'{}'", load.random()));
      expect("fetch()", fmt::format("{}", service.random()));
      std::vector<std::string> values;
      for (const std::uint32_t position : service.sample_all(9)) {
        values.push_back(std::to_string(position + 1));
      }
      expect("start(1, 2, 3, 4, 5, 6, 7, 8, 9)", fmt::format("({})", fmt::join(values, ", ")));
    }
    expect(
        "[name for name in environ if name[:4] == 'LOA' 'D' and name[5:] not in map(str, "
        "range(41))]",
        "[]");
    expect_passes(text, outputs + 3, outputs, seed);
    if (seed == 0) expect_passes(text, outputs + 3, outputs);  // none is zero
  }
}

TEST(Replay, NothingOfATraceReachesTheNext) {
  const ReplayReport report = replay(
      {">>> from os import environ\n>>> a = environ['LOAD_3']\n>>> 7\n7\n>>> import service\n"
       ">>> service.start = None\n>>> import sys\n>>> sys.stdout = None\n",
       ">>> from os import environ\n>>> sorted(name for name in environ if name[:5] == 'LOAD' "
       "'_')\n[]\n"
       ">>> 'a' in globals()\nFalse\n>>> __name__\n'__main__'\n>>> from service import start\n"
       ">>> start(5)\n(5,)\n",
       ">>> _\nTraceback (most recent call last):\nNameError: name '_' is not defined\n",
       ">>> import sys\n>>> sys.stdout.close()\n>>> input()\nTraceback (most recent call last):\n"
       "EOFError: EOF when reading a line\n"});
  for (const Mismatch& m : report.first) {
    ADD_FAILURE() << "trace " << m.trace << ", line " << m.line << ": " << m.source
                  << "\nexpected: " << m.expected << "\ngot: " << m.got;
  }
}

TEST(Replay, AgreesWithDoctestOnRandomTexts) {
  std::vector<std::string> texts;
  RandomStream stream(1, 2);
  for (int i = 0; i < 300; ++i) texts.push_back(random_text(stream));
  const ReplayReport report = replay(texts, 2, 5);
  EXPECT_EQ(report.doctest_traces, 300u);
  EXPECT_EQ(report.disagreements, 0u);
  if (report.first_disagreement) ADD_FAILURE() << texts[*report.first_disagreement - 100];
  EXPECT_EQ(report.mismatches, report.doctest_failures);
  // The texts are a mixed lot.
  EXPECT_GT(report.mismatches, 100u);
  EXPECT_GT(report.examples - report.mismatches, 20u);
  EXPECT_GT(report.outputs, 50u);
}

TEST(Replay, ReportsTheSameForAnyNumberOfProcesses) {
  std::vector<std::string> texts;
  RandomStream stream(3, 4);
  for (int i = 0; i < 5000; ++i) {
    texts.push_back(i % 700 == 600 ? random_text(stream) : kListing);
  }
  texts[1234] = ">>> from random import random\n>>> random()\n0.5\n";
  std::vector<ReplayReport> reports;
  for (const int processes : {1, 2, 3}) {
    ReplayOptions options;
    options.processes = processes;
    options.doctest_every = 97;
    options.keep_mismatches = 5;
    Replay replay(options);
    for (std::size_t i = 0; i < texts.size(); ++i) replay.add(3 * i, texts[i], i);
    reports.push_back(replay.finish());
    const ReplayReport &one = reports.front(), &here = reports.back();
    EXPECT_EQ(here.traces, 5000u);
    EXPECT_EQ(here.doctest_traces, 52u);
    EXPECT_EQ(here.python_version, one.python_version);
    EXPECT_EQ(here.examples, one.examples);
    EXPECT_EQ(here.outputs, one.outputs);
    EXPECT_EQ(here.mismatches, one.mismatches);
    EXPECT_EQ(here.doctest_failures, one.doctest_failures);
    EXPECT_EQ(here.disagreements, 0u);
    EXPECT_EQ(here.first, one.first);
  }
  EXPECT_GT(reports[0].mismatches, 3u);
  EXPECT_FALSE(reports[0].first.empty());
  bool seen = false;
  for (const Mismatch& m : reports[0].first) seen |= m.trace == 3 * 1234 && m.line == 2;
  EXPECT_TRUE(seen);
}

TEST(Replay, KeepsTheFirstMismatchesOnly) {
  ReplayOptions options;
  options.processes = 3;
  options.keep_mismatches = 2;
  Replay replay(options);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::string start = ">>> a = 1\n>>> b = 2\n>>> print(a)\n";
    replay.add(i, start + (i < 40 ? "1\n" : "2\n"), std::nullopt);
  }
  const ReplayReport report = replay.finish();
  EXPECT_EQ(report.mismatches, 2960u);
  EXPECT_THAT(report.first, ElementsAre(Mismatch{40, 3, "print(a)", "2", "1"},
                                        Mismatch{41, 3, "print(a)", "2", "1"}));
  EXPECT_EQ(report.isolated, 0u);
}

TEST(Replay, TakesALongTrace) {
  std::string text = ">>> a = 1\n>>> b = 2\n";
  std::size_t commands = 0;
  for (; text.size() < (1 << 20); ++commands) {
    text += commands % 2 == 0 ? ">>> a, b = b, a\n>>> print('a', a)\na 2\n"
                              : ">>> a, b = b, a\n>>> print('a', a)\na 1\n";
  }
  const std::string wrong = text + ">>> a\n0\n";
  const ReplayReport report = replay({text, wrong});
  EXPECT_EQ(report.examples, 2 * (2 * commands + 2) + 1);
  EXPECT_EQ(report.mismatches, 1u);
  ASSERT_EQ(report.first.size(), 1u);
  EXPECT_EQ(report.first[0].line, 3 * commands + 3);
}

TEST(Replay, DoesNotBlockWhenPipesAreFullBothWays) {
  ReplayOptions options;
  options.processes = 2;
  options.keep_mismatches = 1000;
  Replay replay(options);
  const std::string noise = ">>> import sys\n>>> n = sys.stderr.write('x' * 300000)\n";
  const std::string large = ">>> print('y' * 100000)\n" + std::string(99999, 'y') + "\n";
  for (std::uint64_t i = 0; i < 600; ++i) replay.add(i, i % 50 == 0 ? noise : large, {});
  const ReplayReport report = replay.finish();
  EXPECT_EQ(report.mismatches, 588u);
  ASSERT_EQ(report.first.size(), 588u);
  EXPECT_THAT(report.first[587].got, AllOf(HasSubstr("yyy [...]"), testing::SizeIs(2006)));
}

TEST(Replay, OfNothingStartsNoInterpreter) {
  ReplayOptions options;
  options.python = "/no/such/python";
  const ReplayReport report = Replay(options).finish();
  EXPECT_EQ(report.traces, 0u);
  EXPECT_EQ(report.python_version, "");
  EXPECT_TRUE(report.passed());
}

constexpr char kTwoBranches[] =
    ">>> from random import random\n>>> a = 1\n>>> b = 2\n>>> if random() < 0.5: a, b = b, a\n"
    ">>> if random() < 0.5: a, b = b, a\n>>> print('a', a)\na 2\n";

ReplayReport with_numbers(const std::string& text, const std::vector<double>& numbers) {
  ReplayOptions options;
  options.processes = 1;
  options.doctest_every = 1;
  Replay replay(options);
  replay.add(1, text, 5, &numbers);
  // The next trace draws from its own seed again.
  replay.add(2, ">>> from random import random\n>>> random() == random.__self__.random()\nFalse\n",
             5);
  return replay.finish();
}

TEST(HiddenNumbers, AreWhatRandomReturnsInOrder) {
  EXPECT_TRUE(with_numbers(kTwoBranches, {0.1, 0.7}).passed());
  EXPECT_TRUE(with_numbers(kTwoBranches, {0.7, 0.4999}).passed());
}

TEST(HiddenNumbers, AWrongListIsCaught) {
  for (const std::string& text :
       {std::string(kTwoBranches),
        std::string(kTwoBranches) + ">>> # alone\n>>> a.bit_length()\n2\n"}) {
    EXPECT_EQ(with_numbers(text, {0.1, 0.2}).mismatches, 1u + (text != kTwoBranches));
    EXPECT_FALSE(with_numbers(text, {0.1}).passed());  // too short
    const ReplayReport longer = with_numbers(text, {0.1, 0.7, 0.2});
    EXPECT_EQ(longer.mismatches, 1u);
    EXPECT_EQ(longer.disagreements, 0u);
    ASSERT_EQ(longer.first.size(), 1u);
    EXPECT_EQ(longer.first[0].got, "1 hidden numbers were not drawn");
  }
}

}  // namespace
}  // namespace shellgame
