#include "shellgame/sequences/word_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "shellgame/sequences/word_problem_csv.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/groups/run_oracle.h"

namespace shellgame {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string data(const std::string& name) {
  return read_file(SHELLGAME_TEST_DATA "/word_problem/" + name);
}

TEST(WordProblem, PublishedRowsAreOurRunningProducts) {
  for (const char* name : {"A5", "A4_x_Z5"}) {
    const NumberedGroup group = NumberedGroup::parse(name);
    const std::string file = std::string(name) + "=3.csv";
    const auto rows = read_word_problem_csv(data(file), file, group.order());
    EXPECT_EQ(rows.size(), 20u);
    EXPECT_NO_THROW(check_running_products(rows, group, Multiplication::kRight, file));
    EXPECT_THROW(check_running_products(rows, group, Multiplication::kLeft, file), InputError);
    EXPECT_EQ(write_word_problem_csv(rows), data(file));
  }
}

// The older files hold the last product only: length,input,target.
TEST(WordProblem, PublishedRowsOfTheOlderFormAreOurProducts) {
  for (const char* name : {"S3", "S5", "Z60"}) {
    const NumberedGroup group = NumberedGroup::parse(name);
    std::istringstream lines(data(std::string(name) + "=3.csv"));
    std::string header;
    std::getline(lines, header);
    EXPECT_EQ(header, "length,input,target");
    int rows = 0;
    char comma;
    std::uint32_t length, target;
    for (std::vector<std::uint32_t> input(3);
         lines >> length >> comma >> input[0] >> input[1] >> input[2] >> comma >> target; ++rows)
      EXPECT_EQ(running_products(group, input, Multiplication::kRight).back(), target) << name;
    EXPECT_EQ(rows, 20) << name;
  }
}

std::string words_of_length_two(const NumberedGroup& group, const std::string& first_column,
                                bool all_products) {
  std::string text = first_column == "2" ? "length,input,target\n" : kSequenceCsvHeader;
  for (std::uint32_t a = 0; a < group.order(); ++a)
    for (std::uint32_t b = 0; b < group.order(); ++b) {
      const std::vector<std::uint32_t> input{a, b};
      const auto products = running_products(group, input, Multiplication::kRight);
      text += fmt::format("{},{} {},", first_column, a, b);
      text += all_products ? fmt::format("{} {}\n", products[0], products[1])
                           : fmt::format("{}\n", products[1]);
    }
  return text;
}

// Whole files of the public data, byte for byte: see tests/data/word_problem/README.md.
TEST(WordProblem, PublishedFilesComeOutByteForByte) {
  const auto words = [](const char* name, const char* first, bool all) {
    return words_of_length_two(NumberedGroup::parse(name), first, all);
  };
  const json claims{
      {"files",
       {{{"name", "A_5=2.csv"},
         {"text", words("A5", "2", false)},
         {"sha256", "e0c83f4c6d8db797061f04b58cd8a943123819ed40b2f58d8f6bdc13de7d8bc6"}},
        {{"name", "Z60=2.csv"},
         {"text", words("Z60", "2", false)},
         {"sha256", "2ed43c55b61a865c45e883586ac94089c424bd0c4507e393414556623f70ffb6"}},
        {{"name", "A4_x_Z5=2.csv"},
         {"text", words("A4_x_Z5", "814239", true)},
         {"sha256", "8938e809eed273317847668dca40b01571d9ebc96a4151c12de9ae9b063c1259"}},
        {{"name", "S3_x_Z10=2.csv"},
         {"text", words("S3_x_Z10", "280664", true)},
         {"sha256", "b82360fb839d7143f8f54ce1e1d292a863c7aede82ddedad179dd7cc964c3062"}}}}};
  EXPECT_EQ(run_oracle("sequences/sequence_oracle.py", claims.dump()), "agreed on 4 facts\n");
}

TEST(WordProblem, PythonMultipliesTheSame) {
  json claims{{"words", json::array()}};
  for (const char* name : {"S2", "S4", "S5", "A5", "Z7", "Z60", "A4xZ5", "S3xZ2xZ2", "S3xZ60"})
    for (const Multiplication side : {Multiplication::kRight, Multiplication::kLeft})
      for (std::uint64_t index = 0; index < 3; ++index) {
        const Sequence s = WordProblem(NumberedGroup::parse(name), 40, side).sample(9, index);
        claims["words"].push_back(
            {{"group", name}, {"side", to_string(side)}, {"input", s.input}, {"target", s.target}});
      }
  EXPECT_EQ(run_oracle("sequences/sequence_oracle.py", claims.dump()), "agreed on 54 facts\n");
}

TEST(WordProblem, SamplesArePureFunctionsOfSeedAndIndex) {
  const WordProblem task(NumberedGroup::parse("S5"), 6);
  EXPECT_EQ(task.sample(1, 2), task.sample(1, 2));
  EXPECT_NE(task.sample(1, 2), task.sample(1, 3));
  EXPECT_NE(task.sample(1, 2), task.sample(2, 2));
  // A longer word starts with the shorter one.
  const Sequence longer = WordProblem(NumberedGroup::parse("S5"), 60).sample(1, 2);
  const Sequence shorter = task.sample(1, 2);
  EXPECT_TRUE(std::equal(shorter.input.begin(), shorter.input.end(), longer.input.begin()));
  EXPECT_TRUE(std::equal(shorter.target.begin(), shorter.target.end(), longer.target.begin()));
  EXPECT_EQ(task.name(), "S5, length 6, right multiplication");
  EXPECT_EQ(task.vocabulary_size(), 120u);
  EXPECT_EQ(task.token(0), "()");
  EXPECT_EQ(task.token(119), "(1 5)(2 4)");
  // Frozen: these change only with kSequenceGenerator.
  EXPECT_EQ(json_line(2, shorter),
            "{\"index\":2,\"input\":[107,60,10,24,1,26],\"target\":[107,89,91,115,114,92],"
            "\"generator\":1}\n");
}

TEST(WordProblem, InputsAndTargetsAreUniform) {
  // 60 cells of 1000: chi-squared with 59 degrees of freedom passes 120 with probability 4e-6.
  const WordProblem task(NumberedGroup::parse("A5"), 60);
  std::vector<double> inputs(60), targets(60);
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Sequence s = task.sample(3, index);
    for (const std::uint32_t i : s.input) inputs[i] += 1;
    for (const std::uint32_t i : s.target) targets[i] += 1;
  }
  for (const auto& cells : {inputs, targets}) {
    double chi_squared = 0;
    for (const double count : cells) chi_squared += (count - 1000) * (count - 1000) / 1000;
    EXPECT_LT(chi_squared, 120);
    EXPECT_GT(chi_squared, 20);
  }
}

TEST(WordProblem, BadRequestsAreRefused) {
  EXPECT_THROW(WordProblem(NumberedGroup::parse("S5"), 0), UsageError);
  EXPECT_THROW(WordProblem(NumberedGroup::parse("S5"), kMaxSequenceLength + 1), UsageError);
  const std::vector<std::uint32_t> outside{0, 120};
  EXPECT_THROW(running_products(NumberedGroup::parse("S5"), outside, Multiplication::kRight),
               UsageError);
}

TEST(NumberedGroup, NumbersAreTheGroupsOwnWherePossible) {
  for (const char* name : {"S4", "A5", "Z7", "D5", "A4_x_Z5", "<(1 2), (2 3)>", "S12"}) {
    const NumberedGroup numbered = NumberedGroup::parse(name);
    const Group group = parse_group(name);
    EXPECT_EQ(numbered.name(), group.name());
    for (std::uint32_t i = 0; i < 6; ++i) {
      EXPECT_EQ(numbered.element(i), group.element(i));
      EXPECT_EQ(numbered.index_of(group.element(i)), i);
    }
  }
}

TEST(NumberedGroup, LargeCyclicGroupsCountPowers) {
  for (const char* name : {"Z60", "Z24", "Z120", "Z140"}) {
    const NumberedGroup group = NumberedGroup::parse(name);
    const std::uint32_t n = group.order();
    EXPECT_EQ(name, fmt::format("Z{}", n));
    EXPECT_EQ(group.name(), name);
    for (std::uint32_t k = 0; k < n; ++k) {
      EXPECT_EQ(group.element(k), group.element(1).power(k));
      EXPECT_EQ(group.index_of(group.element(k)), k);
    }
  }
  const NumberedGroup mixed = NumberedGroup::parse("S3 x Z60");
  EXPECT_EQ(mixed.name(), "S3xZ60");
  EXPECT_EQ(mixed.group().name(), "S3xZ4xZ3xZ5");
  for (std::uint32_t i = 0; i < 360; ++i) EXPECT_EQ(mixed.index_of(mixed.element(i)), i);
  EXPECT_EQ(then(mixed.element(1), mixed.element(59)), Permutation());
  EXPECT_THROW(mixed.element(360), UsageError);
}

TEST(NumberedGroup, ImpossibleGroupsAreRefused) {
  EXPECT_THROW(NumberedGroup::parse("Z17"), UsageError);
  EXPECT_THROW(NumberedGroup::parse("Z60xS5"), UsageError);
  EXPECT_THROW(NumberedGroup::parse("Z60x"), UsageError);
  EXPECT_THROW(NumberedGroup::parse(""), UsageError);
  EXPECT_THROW(NumberedGroup::parse("Z99999999999999999999"), UsageError);
  try {
    NumberedGroup::parse("S13");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fewer than 2^32 elements, but S13 has 6227020800"));
  }
}

std::string refusal(const std::string& content, std::uint64_t elements = 6) {
  try {
    read_word_problem_csv(content, "words.csv", elements);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(WordProblemCsv, ErrorsAreSentencesAtFileLineAndColumn) {
  const std::string h = kSequenceCsvHeader;
  EXPECT_EQ(refusal(""), "words.csv:1:1: the header must be \"seed,input,target\", not \"\"");
  EXPECT_EQ(refusal("seed,input\n"),
            "words.csv:1:1: the header must be \"seed,input,target\", not \"seed,input\"");
  EXPECT_THAT(refusal("length,input,target\n"), HasSubstr("words.csv:1:1: the header must be"));
  EXPECT_THAT(refusal("length,input,target\n"), HasSubstr("the older form"));
  EXPECT_EQ(refusal(h + "1,0 1,0 1\nx,0,0\n"), "words.csv:3:1: the seed must be a whole number");
  EXPECT_EQ(refusal(h + "1,0 a,0 1\n"), "words.csv:2:5: an input must be a whole number");
  EXPECT_EQ(refusal(h + "1,0  1,0 1\n"), "words.csv:2:5: an input must be a whole number");
  EXPECT_EQ(refusal(h + "1,0 1 ,0 1\n"), "words.csv:2:7: an input must be a whole number");
  EXPECT_EQ(refusal(h + "1,0 6,0 1\n"), "words.csv:2:5: an input must be below 6, not 6");
  EXPECT_EQ(refusal(h + "1,0 1,0 99999999999999999999999999\n"),
            "words.csv:2:9: a target must be below 6, not 999999999999999999999999");
  EXPECT_EQ(refusal(h + "1,00 1,0 1\n"),
            "words.csv:2:3: an input must be written without leading zeros");
  EXPECT_EQ(refusal(h + "1,0 1,0\n"),
            "words.csv:2:7: there must be as many targets as inputs, not 1 and 2");
  EXPECT_EQ(refusal(h + "1,0 1\n"), "words.csv:2:6: a comma must follow the input");
  EXPECT_EQ(refusal(h + "1\n"), "words.csv:2:2: a comma must follow the seed");
  EXPECT_EQ(refusal(h + "1,0,0,0\n"),
            "words.csv:2:6: only a space and a further target may follow a target");
  EXPECT_EQ(refusal(h + "\n1,0,0\n"), "words.csv:2:1: the seed must be a whole number");
  EXPECT_EQ(refusal(h + "18446744073709551616,0,0\n"),
            "words.csv:2:1: the seed must be below 2^64, not 18446744073709551616");
  EXPECT_EQ(refusal(h + "18446744073709551615,0,0\n"), "no error");
  EXPECT_THROW(read_word_problem_csv(h, "x", 0), UsageError);
}

TEST(WordProblemCsv, AWrongProductIsNamed) {
  const std::string content = std::string(kSequenceCsvHeader) + "12,1 0,1 1\n12,1 2 5,1 3 0\n";
  const auto rows = read_word_problem_csv(content, "words.csv", 6);
  try {
    check_running_products(rows, NumberedGroup::parse("S3"), Multiplication::kRight, "words.csv");
    FAIL();
  } catch (const InputError& error) {
    // (2 3)(1 2) sends 1 to 3, 2 to 1, 3 to 2: number 4 of S3.
    EXPECT_STREQ(error.what(),
                 "words.csv:3:12: target 2 must be 4, the product of the inputs so far in S3 by "
                 "right multiplication, not 3");
  }
}

TEST(WordProblemCsv, ReadsWhatItWrites) {
  const WordProblem task(NumberedGroup::parse("A4xZ5"), 17);
  std::vector<WordProblemRow> rows;
  for (std::uint64_t i = 0; i < 50; ++i) rows.push_back({i * 1000, task.sample(i * 1000, i)});
  const std::string text = write_word_problem_csv(rows);
  EXPECT_EQ(read_word_problem_csv(text, "x", 60), rows);
  EXPECT_NO_THROW(check_running_products(rows, task.group(), Multiplication::kRight, "x"));
  // A missing last newline and the line ends of Windows are read too.
  EXPECT_EQ(read_word_problem_csv(text.substr(0, text.size() - 1), "x", 60), rows);
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(read_word_problem_csv(windows, "x", 60), rows);
  EXPECT_TRUE(read_word_problem_csv("seed,input,target", "x").empty());
}

}  // namespace
}  // namespace shellgame
