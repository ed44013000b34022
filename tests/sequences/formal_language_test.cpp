#include "shellgame/sequences/formal_language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "shellgame/text/error.h"
#include "tests/groups/run_oracle.h"

namespace shellgame {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string text_of(const FormalLanguage& language, const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) text += language.token(id);
  return text;
}

TEST(FormalLanguage, PythonEvaluatesTheSame) {
  json claims{{"expressions", json::array()}, {"parities", json::array()}};
  for (const LengthRange lengths : {kTrainLengths, kTestLengths}) {
    const FormalLanguage modular(Language::kModularArithmetic, lengths);
    const FormalLanguage parity(Language::kParity, lengths);
    for (std::uint64_t index = 0; index < 400; ++index) {
      Sequence s = modular.sample(5, index);
      ASSERT_EQ(s.target.size(), 1u);
      ASSERT_EQ(modular.token(s.input.back()), "=");
      s.input.pop_back();
      claims["expressions"].push_back(
          {{"text", text_of(modular, s.input)}, {"value", std::stoi(modular.token(s.target[0]))}});
      s = parity.sample(5, index);
      json bits = json::array(), targets = json::array();
      for (const std::uint32_t id : s.input) bits.push_back(std::stoi(parity.token(id)));
      for (const std::uint32_t id : s.target) targets.push_back(std::stoi(parity.token(id)));
      claims["parities"].push_back({{"bits", bits}, {"targets", targets}});
    }
  }
  EXPECT_EQ(run_oracle("sequences/sequence_oracle.py", claims.dump()), "agreed on 1600 facts\n");
}

// Written by hand, tokens of the xLSTM harness: + - * = are 1 2 3 4, the digits 5 to 9.
TEST(FormalLanguage, PrecedenceIsTheUsualOne) {
  const auto value = [](std::vector<std::uint32_t> ids) { return evaluate_modular(ids); };
  EXPECT_EQ(value({6, 1, 7, 3, 8}), 2u);              // 1+2*3 = 7
  EXPECT_EQ(value({6, 2, 6, 2, 6}), 4u);              // 1-1-1 = -1
  EXPECT_EQ(value({5, 3, 6, 1, 9, 3, 8, 2, 7}), 0u);  // 0*1+4*3-2 = 10
  EXPECT_EQ(value({7, 2, 8, 3, 9, 3, 7}), 3u);        // 2-3*4*2 = -22
  EXPECT_EQ(value({9}), 4u);
  EXPECT_THROW(value({}), UsageError);
  EXPECT_THROW(value({6, 1}), UsageError);
  EXPECT_THROW(value({1, 6, 1}), UsageError);
  EXPECT_THROW(value({6, 6, 6}), UsageError);
  EXPECT_THROW(value({6, 4, 6}), UsageError);
  EXPECT_THROW(value({10}), UsageError);
}

TEST(FormalLanguage, VocabulariesAreThoseOfTheHarness) {
  EXPECT_THAT(vocabulary(Language::kParity), ElementsAre("[PAD]", "0", "1"));
  EXPECT_THAT(vocabulary(Language::kModularArithmetic),
              ElementsAre("[PAD]", "+", "-", "*", "=", "0", "1", "2", "3", "4"));
  EXPECT_EQ(FormalLanguage(Language::kParity).vocabulary_size(), 3u);
  EXPECT_EQ(FormalLanguage(Language::kModularArithmetic).vocabulary_size(), 10u);
  EXPECT_THROW(FormalLanguage(Language::kParity).token(3), UsageError);
}

// Cells of 500 over all lengths: chi-squared stays below twice its degrees of freedom plus 40.
TEST(FormalLanguage, LengthsAreUniform) {
  for (const Language language : {Language::kParity, Language::kModularArithmetic})
    for (const LengthRange lengths : {kTrainLengths, kTestLengths, LengthRange{7, 7}}) {
      const FormalLanguage task(language, lengths);
      const bool parity = language == Language::kParity;
      std::map<std::size_t, double> cells;
      for (std::uint32_t n = lengths.min; n <= lengths.max; ++n)
        if (parity || n % 2 == 1) cells[n] = 0;
      const std::size_t count = cells.size();
      for (std::uint64_t index = 0; index < 500 * count; ++index)
        cells[task.sample(8, index).input.size() + 1] += 1;
      EXPECT_EQ(cells.size(), count) << "a length outside the range";
      double chi_squared = 0;
      for (const auto& [n, k] : cells) chi_squared += (k - 500) * (k - 500) / 500;
      EXPECT_LT(chi_squared, 2 * static_cast<double>(count) + 40);
      if (count > 1) {
        EXPECT_GT(chi_squared, static_cast<double>(count) / 4);
      }
    }
}

TEST(FormalLanguage, TokensAreUniform) {
  const FormalLanguage task(Language::kModularArithmetic, kTestLengths);
  std::vector<double> counts(10);
  for (std::uint64_t index = 0; index < 2000; ++index)
    for (const std::uint32_t id : task.sample(2, index).input) counts[id] += 1;
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[4], 2000);
  const double operators = counts[1] + counts[2] + counts[3];
  const double digits = counts[5] + counts[6] + counts[7] + counts[8] + counts[9];
  EXPECT_EQ(digits - operators, 2000);  // an expression has one digit more
  // About 146,000 of each: six standard deviations are 0.8 and 0.7 per cent.
  for (int i = 1; i <= 3; ++i)
    EXPECT_NEAR(counts[static_cast<std::size_t>(i)] / operators, 1.0 / 3, 0.008);
  for (int i = 5; i <= 9; ++i)
    EXPECT_NEAR(counts[static_cast<std::size_t>(i)] / digits, 1.0 / 5, 0.007);
}

TEST(FormalLanguage, SamplesArePureFunctionsOfSeedAndIndex) {
  const FormalLanguage parity(Language::kParity, {9, 9});
  const FormalLanguage modular(Language::kModularArithmetic, {9, 9});
  EXPECT_EQ(parity.sample(1, 2), parity.sample(1, 2));
  EXPECT_NE(parity.sample(1, 2), parity.sample(1, 3));
  // Frozen: these change only with kSequenceGenerator.
  EXPECT_EQ(
      json_line(2, parity.sample(1, 2)),
      "{\"index\":2,\"input\":[2,1,1,1,1,1,2,2],\"target\":[2,2,2,2,2,2,1,2],\"generator\":1}\n");
  EXPECT_EQ(text_of(modular, modular.sample(1, 2).input), "2+1+1+3=");
  EXPECT_EQ(csv_row(1, modular.sample(1, 2)), "1,7 1 6 1 6 1 8 4,7\n");
  EXPECT_EQ(parity.name(), "parity, length 9 to 9");
}

TEST(FormalLanguage, BadRangesAreRefused) {
  const auto refusal = [](Language language, LengthRange lengths) -> std::string {
    try {
      FormalLanguage(language, lengths);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal(Language::kParity, {1, 5}), HasSubstr("between 2 and 16777216, not 1 to 5"));
  EXPECT_THAT(refusal(Language::kParity, {5, 4}), HasSubstr("not 5 to 4"));
  EXPECT_THAT(refusal(Language::kModularArithmetic, {2, 5}), HasSubstr("between 3 and"));
  EXPECT_THAT(refusal(Language::kModularArithmetic, {4, 4}), HasSubstr("4 has none"));
  EXPECT_THAT(refusal(Language::kParity, {2, 0xFFFFFFFFu}), HasSubstr("to 4294967295"));
  EXPECT_EQ(refusal(Language::kParity, {2, 2}), "no error");
  EXPECT_EQ(refusal(Language::kModularArithmetic, {3, 4}), "no error");
  EXPECT_EQ(parse_language("parity"), Language::kParity);
  EXPECT_EQ(parse_language("modular_arithmetic"), Language::kModularArithmetic);
  EXPECT_THROW(parse_language("dyck"), UsageError);
}

}  // namespace
}  // namespace shellgame
