#include "shellgame/episodes/question_rows.h"

#include <gtest/gtest.h>

#include "shellgame/episodes/data_kind.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

SharedData schedule(const std::string& ending) {
  return DataSpec{"schedule",
                  {{"file", SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/M5.toml"},
                   {"set", "N=1,ending=" + ending}}}
      .make();
}

// The rows of data that end follow one another; which are written does not change them.
TEST(QuestionRows, OfSeveralDataHaveOneNumbering) {
  const LexemeTokenizer lexemes;
  const std::vector<SharedData> data = {schedule("a"), schedule("b"), schedule("c")};
  std::vector<std::string> all;
  std::vector<QuestionPlace> places;
  const auto take = [&](const QuestionPlace& place, std::string_view line) {
    places.push_back(place);
    all.emplace_back(line);
  };
  EXPECT_EQ(write_questions(data, 3, {.count = 1000, .tokenizer = &lexemes}, take), 36u);
  ASSERT_EQ(all.size(), 36u);
  for (std::size_t i = 0; i < 36; ++i) {
    EXPECT_EQ(places[i].data, i / 12);
    EXPECT_EQ(places[i].row, i % 12);
    EXPECT_EQ(places[i].index, i);
  }
  const std::vector<std::string> whole = all;
  all.clear();
  EXPECT_EQ(write_questions(data, 3, {.first = 10, .count = 15, .tokenizer = &lexemes}, take), 15u);
  EXPECT_EQ(all, std::vector<std::string>(whole.begin() + 10, whole.begin() + 25));
  EXPECT_EQ(write_questions(data, 3, {.first = 36, .count = 1, .tokenizer = &lexemes}, take), 0u);
}

TEST(QuestionRows, OfASourceWithoutEndAreAsManyAsAreAskedFor) {
  const auto source =
      DataSpec{"counters", {{"length", "6"}, {"spacing", "2"}}}.make()->source(nullptr, {});
  std::vector<std::uint64_t> rows;
  EXPECT_EQ(write_questions(*source, {.first = 5, .count = 200},
                            [&](std::uint64_t row, std::string_view line) {
                              rows.push_back(row);
                              EXPECT_TRUE(line.starts_with("{\"tokenizer\":null,\"ids\":["));
                            }),
            200u);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], 5 + i);
}

}  // namespace
}  // namespace shellgame
