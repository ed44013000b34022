// Our engines against engines that this project did not write: Python's fractions, GHMM,
// pomegranate and WebPPL (recorded).
#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/smoothing.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "tests/support/belief_cases.h"
#include "tests/tokens/golden_files.h"

namespace shellgame {
namespace {

double number(const nlohmann::json& json) {
  return json.is_string() ? to_double(parse_rational(json.get<std::string>())) : json.get<double>();
}

void compare(const BeliefCase& one, const nlohmann::json& answer) {
  const auto filter = make_filter(one.automaton);
  if (answer.contains("impossible_at")) {
    try {
      for (SymbolId symbol : one.word) filter->step(symbol);
      ADD_FAILURE() << "impossible evidence passed";
    } catch (const ZeroEvidence& error) {
      EXPECT_EQ(error.step(), answer["impossible_at"].get<std::uint64_t>() + 1);
      EXPECT_FALSE(error.underflow());
    }
    return;
  }
  for (std::size_t t = 0; t < one.word.size(); ++t) {
    const StepReport report = filter->step(one.word[t]);
    EXPECT_NEAR(report.survival, number(answer["survival"][t]), 1e-12);
    const std::vector<double> belief = filter->belief();
    for (std::size_t q = 0; q < belief.size(); ++q)
      EXPECT_NEAR(belief[q], number(answer["beliefs"][t][q]), 1e-12);
  }
  if (answer.contains("smoothed")) {  // an engine may refuse
    const auto posterior = smoothed(one.automaton, one.word);
    for (std::size_t t = 0; t < posterior.size(); ++t) {
      for (std::size_t q = 0; q < posterior[t].size(); ++q)
        EXPECT_NEAR(posterior[t][q], number(answer["smoothed"][t][q]), 1e-12);
    }
  }
  if (answer.contains("best_path_log")) {
    EXPECT_NEAR(most_likely_path(one.automaton, one.word).log_probability,
                number(answer["best_path_log"]), 1e-11);
  }
}

const std::vector<BeliefCase>& cases() {
  static const std::vector<BeliefCase> all = [] {
    std::vector<BeliefCase> made;
    for (std::uint64_t index = 0; index < 150; ++index) {
      RandomStream stream(8, index, Lane::kSequence);
      made.push_back(random_case(stream, 6, 1 + index % 10));
    }
    // Traces, too: the branching task of the paper's first source of uncertainty.
    const Sampler sampler(parse_task(
        "group = 'S3'\nuncertainty = 'branching,unknown-start'\ncommands = 4\nspacing = 2\n",
        "task.toml"));
    for (std::uint64_t index = 0; index < 20; ++index) {
      ProgramWord read = word_of(sampler.sample(2, index));
      made.push_back({std::move(read.automaton), std::move(read.word)});
    }
    return made;
  }();
  return all;
}

void compare_with(const std::vector<std::string>& command) {
  const std::vector<nlohmann::json> answers = ask_oracle(command, cases());
  ASSERT_EQ(answers.size(), cases().size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    compare(cases()[i], answers[i]);
    if (::testing::Test::HasFailure()) FAIL() << "case " << i << ": " << to_json(cases()[i]);
  }
}

const std::string kSupport = SHELLGAME_SOURCE_DIR "/tests/support/";

TEST(Oracles, PythonFractionsAgree) {
  compare_with({kSupport + "beliefs_fractions.py", "--exact"});
}

TEST(Oracles, GhmmAgrees) { compare_with({SHELLGAME_BELIEFS_GHMM}); }

TEST(Oracles, PomegranateAgrees) { compare_with({kSupport + "beliefs_pomegranate.py"}); }

TEST(Oracles, WebPplAgrees) {
  const auto lines = json_lines(read_file(data_path("beliefs-webppl.jsonl")));
  ASSERT_EQ(lines.size(), 50u);
  for (const nlohmann::json& line : lines) {
    compare(from_json(line), line);
    if (HasFailure()) FAIL() << line;
  }
}

}  // namespace
}  // namespace shellgame
