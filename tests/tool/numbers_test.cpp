// Every number that the tool takes, tried beyond its ends. The list is the tool's own
// (`shellgame help --numbers`), made from the declarations that parse: none can be forgotten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/automata/automaton_numbers.h"
#include "shellgame/episodes/data_kind.h"
#include "shellgame/models/config_numbers.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/experiment_numbers.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::string below(const NumberBounds& bounds) {
  const std::string least = bounds.minimum();
  return bounds.is_whole() ? std::to_string(std::stoll(least) - 1)
                           : fmt::format("{}", std::stod(least) - 1);
}

std::string above(const NumberBounds& bounds) {
  const std::string most = bounds.maximum();
  if (!bounds.is_whole()) return fmt::format("{}", std::stod(most) * 2 + 1);
  const std::uint64_t number = std::stoull(most);
  return number == UINT64_MAX ? "18446744073709551616" : std::to_string(number + 1);
}

// Texts that a number of these bounds must not be.
std::vector<std::string> wrong_texts(const NumberBounds& bounds) {
  std::set<std::string> all = {below(bounds), "nan", "text", "18446744073709551616"};
  if (bounds.maximum() != "inf") all.insert({above(bounds), "inf"});
  for (const char* text : {"-1", "18446744073709551615", "1.5"}) {
    if (!bounds.accepts(text)) all.insert(text);
  }
  std::vector<std::string> wrong;
  for (const std::string& text : all) {
    if (!bounds.accepts(text)) wrong.push_back(text);
  }
  EXPECT_GE(wrong.size(), 3u);
  return wrong;
}

std::string placed(const std::string& pattern, const std::string& text) {
  return std::regex_replace(pattern, std::regex(R"(\{\})"), text);
}

NumberBounds bounds_of(const Json& one) {
  const Json &least = one["minimum"], &most = one["maximum"];
  if (one["whole"].get<bool>())
    return NumberBounds::whole(least.get<std::int64_t>(), most.get<std::uint64_t>());
  return NumberBounds::real(least.get<double>(), most.is_null() ? HUGE_VAL : most.get<double>());
}

Json listed() {
  const Result result = run("help --numbers");
  EXPECT_EQ(result.code, 0) << result.output;
  return Json::parse(result.output);
}

void expect_refused(const std::string& arguments, const std::string& name,
                    const std::string& before = "") {
  const Result result = run(arguments, before);
  EXPECT_EQ(result.code, 2) << arguments << "\n" << result.output;
  EXPECT_THAT(result.output, StartsWith("shellgame: ")) << arguments;
  EXPECT_THAT(result.output, HasSubstr(name)) << arguments;
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output;
}

TEST(Numbers, EveryOptionRefusesWhatIsOutsideItsBounds) {
  const Json all = listed();
  ASSERT_GT(all["options"].size(), 100u);
  std::set<std::string> tried;
  for (const Json& one : all["options"]) {
    const std::string name = one["name"], command = one["command"], pattern = one["pattern"];
    std::vector<std::string> wrong = wrong_texts(bounds_of(one));
    // One declaration serves several commands: it is tried in full once, and once in each.
    if (!tried.insert(name + pattern + one["maximum"].dump()).second) wrong = {"nan"};
    for (const std::string& text : wrong)
      expect_refused(fmt::format("{} '{}={}'", command, name, placed(pattern, text)), name);
  }
}

TEST(Numbers, NoOptionTakesANumberByAnotherRoad) { EXPECT_THAT(listed()["undeclared"], IsEmpty()); }

TEST(Numbers, NumbersOfCommandLinesAreReadInOnePlace) {
  const std::regex by_hand(R"(from_chars|\bsto(i|l|ll|ul|ull|f|d)\(|\bato[il]|\bstrto)"
                           R"(|CLI::(Range|PositiveNumber|NonNegativeNumber|Number)\b)");
  for (const auto& entry :
       std::filesystem::directory_iterator(SHELLGAME_SOURCE_DIR "/shellgame/tool")) {
    // What a child process says is no command line.
    if (!entry.is_regular_file() || entry.path().filename() == "bench_belief.cpp") continue;
    EXPECT_FALSE(std::regex_search(read_file(entry.path().string()), by_hand)) << entry.path();
  }
}

TEST(Numbers, TheEnvironmentRefusesWhatIsOutsideItsBounds) {
  for (const Json& one : listed()["environment"]) {
    const std::string name = one["name"];
    for (const std::string& text : wrong_texts(bounds_of(one)))
      expect_refused("trace --count 3 --commands 1", name, name + "=" + text + " ");
    EXPECT_EQ(run("trace --commands 1", name + "=2,1 ").code, 0);
  }
}

// What a reader says; "" if it takes the text.
template <class Read>
std::string refusal_of(const Read& read) {
  try {
    read();
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2) << error.what();
    return error.what();
  }
}

TEST(Numbers, EveryKeyOfATaskRefusesWhatIsOutsideItsBounds) {
  int numbers = 0;
  for (const TaskKey& key : task_keys()) {
    EXPECT_EQ(key.is_number && key.numbers.empty(), false) << key.name;
    for (const DeclaredNumber& number : key.numbers) {
      ++numbers;
      for (const std::string& text : wrong_texts(number.bounds)) {
        const std::string quote = key.is_number && text != "text" ? "" : "\"";
        const std::string line =
            fmt::format("{0} = {1}{2}{1}\n", key.name, quote, placed(number.pattern, text));
        const std::string said = refusal_of([&] { parse_task(line, "t.toml"); });
        // TOML itself has no whole numbers from 2^63 on, and says where it stands.
        EXPECT_THAT(said, ::testing::AnyOf(HasSubstr(key.name), StartsWith("t.toml:1:"))) << line;
      }
    }
  }
  EXPECT_GE(numbers, 8);
}

TEST(Numbers, EveryKeyOfAnExperimentRefusesWhatIsOutsideItsBounds) {
  const std::string model = "[model]\nmodel_type = \"delta_net\"\n[[stages]]\nbatch = 1\n";
  const std::string task = model + "[task]\ngroup = \"S3\"\n[[optimiser.groups]]\nmatch = \"x\"\n";
  EXPECT_EQ(refusal_of([&] { parse_experiment(task, "e.toml"); }), "");
  ASSERT_GT(experiment_numbers().size(), 40u);
  for (const DeclaredNumber& number : experiment_numbers()) {
    for (const std::string& text : wrong_texts(number.bounds)) {
      const std::string said =
          refusal_of([&] { parse_experiment(task, "e.toml", {number.name + "=" + text}); });
      EXPECT_THAT(said, HasSubstr(number.name)) << number.name << "=" << text;
    }
  }
}

TEST(Numbers, EveryKeyOfEveryKindOfDataRefusesWhatIsOutsideItsBounds) {
  int numbers = 0;
  for (const std::string& kind : data_kind_names()) {
    for (const DataKey& key : find_data_kind(kind).keys) {
      for (const DeclaredNumber& number : key.numbers) {
        ++numbers;
        for (const std::string& text : wrong_texts(number.bounds)) {
          const std::string value = fmt::format(fmt::runtime(number.pattern), text);
          const std::string said = refusal_of([&] { DataSpec{kind, {{key.name, value}}}.make(); });
          EXPECT_THAT(said, HasSubstr(key.name)) << kind << " " << value;
        }
      }
    }
  }
  EXPECT_GE(numbers, 16);
}

TEST(Numbers, EveryKeyOfAModelRefusesWhatIsOutsideItsBounds) {
  for (const DeclaredNumber& number : config_numbers()) {
    EXPECT_NO_THROW(check_config_numbers({{number.name, nullptr}}, "config.json"));
    for (const std::string& text : wrong_texts(number.bounds)) {
      const Json given = text == "nan"   ? Json(NAN)
                         : text == "inf" ? Json(HUGE_VAL)
                                         : Json::parse(text, nullptr, false);
      const Json value = given.is_discarded() ? Json(text) : given;
      for (const Json& config : {Json{{number.name, value}}, Json{{number.name, {value}}},
                                 Json{{"attn", {{number.name, value}}}}}) {
        EXPECT_THAT(refusal_of([&] { check_config_numbers(config, "config.json"); }),
                    HasSubstr("config.json: '" + number.name + "' must be"))
            << config;
      }
    }
  }
  EXPECT_NO_THROW(check_config_numbers(
      {{"dt_limit", {0.0, {{"__float__", "Infinity"}}}}, {"num_heads", 2.0}}, "config.json"));
}

TEST(Numbers, EveryNumberThatAModelReadsIsDeclared) {
  const std::regex read(R"re((?:size|size_or|number|number_or|integer|integers)\(\s*"(\w+)")re");
  int found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(SHELLGAME_SOURCE_DIR "/shellgame/models")) {
    const std::string text = read_file(entry.path().string());
    for (std::sregex_iterator at(text.begin(), text.end(), read), end; at != end; ++at) {
      const std::string key = (*at)[1];
      // The ends of mamba2's dt_limit, which is declared; the layers of 'attn' are those there are.
      if (key == "low" || key == "high" || key == "layers") continue;
      EXPECT_NE(find_config_number(key), nullptr) << entry.path() << ": " << key;
      ++found;
    }
  }
  EXPECT_GT(found, 40);
}

TEST(Numbers, EveryNumberOfAnAutomatonRefusesWhatIsOutsideItsBounds) {
  const std::string rest = "start = \"uniform\"\n[symbol.swap]\nshuffle = [\"a\", \"b\"]\n";
  for (const DeclaredNumber& number : automaton_numbers()) {
    for (const std::string& text : wrong_texts(number.bounds)) {
      const std::string line =
          number.name + " = " + (text == "text" ? "\"text\"" : text) + "\n" + rest;
      EXPECT_THAT(refusal_of([&] { parse_automaton(line, "a.toml"); }), StartsWith("a.toml:1:"))
          << line;
    }
  }
}

// Each of these crashed, wrapped around or went on without a word.
TEST(Numbers, WhatOnceCrashedIsASentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"trace --group S4 --commands 9223372036854775808 --format jsonl", "--commands"},
      {"belief marginal-error --groups S3 --moves swaps --probabilities 0.5 --traces 2 "
       "--spacings 0",
       "--spacings"},
      {"belief marginal-error --spacings=-1", "--spacings"},
      {"belief marginal-error --probabilities nan", "--probabilities"},
      {"belief stability --halving --wrong-by nan --precision fp16", "--wrong-by"},
      {"evaluate --model x --max-memory nan", "--max-memory"},
      {"probe intervene --model x --layer 2147483648", "--layer"},
      {"sequence --first-index 18446744073709551615 --count 2 --length 2", "--first-index"},
      {"belief adversary --longest-cycle 18446744073709551615", "--longest-cycle"},
      {"bench tokens --seconds nan", "--seconds"},
  };
  for (const auto& [arguments, name] : cases) expect_refused(arguments, name);
}

TEST(Numbers, ALeadingZeroDoesNotMeanOctal) {
  EXPECT_EQ(run("trace --count 010 --commands 1").output,
            run("trace --count 10 --commands 1").output);
}

TEST(Numbers, WhatDoesNotFitMemoryIsRefusedBeforeAnythingIsMade) {
  for (const char* arguments :
       {"trace --commands 900000000000 --format jsonl --output /nowhere/file",
        "trace --commands 900000000000 --verify --output /nowhere/file",
        "belief --commands 900000000000", "belief --count 9000000000000000",
        "belief --example joint-cycle --sample-word 900000000000",
        "belief marginal-error --groups S3 --traces 1 --commands 900000000000",
        "bench trace --commands 900000000000",
        "model new --set model_type=delta_net --set hidden_size=2048 --set num_heads=2 --set "
        "num_hidden_layers=1000 --set vocab_size=90 --output /nowhere/model"}) {
    // In no more than this: the machine is not to be taken along.
    const Result result = run(arguments, "ulimit -v 4000000; ");
    EXPECT_EQ(result.code, 1) << arguments << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr("must fit in memory: about ")) << arguments;
  }
}

// An automaton has a symbol for each command that traces may have, however many a trace has.
TEST(Numbers, AnAutomatonOfATaskDoesNotMakeItsTraces) {
  const std::string task = "belief --group S3 --moves swaps --print-automaton --commands ";
  const Result result = run(task + "900000000000", "ulimit -v 4000000; ");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(result.output, run(task + "64").output);
}

// What a filter of 12 variables needs is not taken for a question that has no answer.
TEST(Numbers, SmoothingOfManyVariablesIsRefusedBeforeItIsFiltered) {
  const Result result =
      run("belief --group S12 --moves swaps --uncertainty unknown-start --commands 2 --spacing 1 "
          "--smooth",
          "ulimit -v 2000000; ");
  EXPECT_EQ(result.code, 2) << result.output;
  EXPECT_THAT(result.output, HasSubstr("smoothing needs at most 8 variables, not 12"));
}

}  // namespace
}  // namespace shellgame
