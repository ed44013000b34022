#include "shellgame/evaluate/row_buffer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shellgame {
namespace {

const ValueTree kDigits({{1}, {1, 2}, {3}});

// Three pieces; a value of two tokens (1 2) is shown in the second.
class ThreePieces final : public Row {
 public:
  bool next(RowPiece& piece) override {
    piece.reveals.clear();
    if (given_ == 3) return false;
    if (given_ == 0) piece.ids = {9, 9, 9, 9};
    if (given_ == 1) {
      piece.ids = {8, 1, 2, 7, 7};
      piece.reveals.push_back(
          {.command = 1, .value = 1, .after = 0, .length = 2, .end_token = 7, .values = &kDigits});
    }
    if (given_ == 2) {
      piece.ids = {8, 3, 7, 6, 6, 6};
      piece.reveals.push_back(
          {.command = 2, .value = 2, .after = 0, .length = 1, .end_token = 7, .values = &kDigits});
    }
    ++given_;
    return true;
  }

 private:
  int given_ = 0;
};

std::vector<std::int64_t> ahead(const RowBuffer& row, std::size_t count) {
  std::vector<std::int64_t> ids(count);
  row.copy(ids.data(), count);
  return ids;
}

TEST(Judge, IsTheSoftmaxAmongAllAndAmongTheBranches) {
  const double logits[] = {0, 1, 2, 3, 4};
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  // The branches of the root are the tokens 1 and 3.
  const Verdict low = judge(logits, std::log(sum), 4, kDigits.node(ValueTree::kRoot), 0, 0);
  EXPECT_EQ(low.best, 1u);
  EXPECT_NEAR(low.nats, std::log(sum) - 1, 1e-14);
  EXPECT_NEAR(low.value_nats, std::log1p(std::exp(2.0)), 1e-14);
  EXPECT_FALSE(low.strict);
  const Verdict high = judge(logits, std::log(sum), 3, kDigits.node(ValueTree::kRoot), 1, 0);
  EXPECT_NEAR(high.value_nats, std::log1p(std::exp(-2.0)), 1e-14);
  EXPECT_TRUE(high.strict);
  // Below token 1: token 2, or the end, for which token 4 stands here.
  const auto& below = kDigits.node(kDigits.node(ValueTree::kRoot).next[0]);
  EXPECT_EQ(below.tokens[judge(logits, std::log(sum), 4, below, 0, 4).best], ValueTree::kEnd);
  EXPECT_EQ(below.tokens[judge(logits, std::log(sum), 4, below, 0, 0).best], 2u);
}

TEST(RowBuffer, ReadsAheadAndForgetsWhatWasRead) {
  RowBuffer row(std::make_unique<ThreePieces>(), 0);
  row.fill(3);
  EXPECT_EQ(row.left(), 4u);
  EXPECT_FALSE(row.next_place());
  row.advance(3);
  row.fill(3);
  EXPECT_EQ(ahead(row, 6), (std::vector<std::int64_t>{9, 8, 1, 2, 7, 7}));
  EXPECT_EQ(row.next_place(), 1u);
  row.fill(100);
  EXPECT_TRUE(row.ended());
  ASSERT_EQ(row.waiting().size(), 2u);
  // What comes after the last value is not needed: 9 8 1 2 7 7 8 3.
  EXPECT_EQ(row.left(), 8u);
  EXPECT_EQ(ahead(row, 13).back(), 0);  // past the end
}

TEST(RowBuffer, AnotherValueMayBeShorterOrLonger) {
  RowBuffer row(std::make_unique<ThreePieces>(), 0);
  row.fill(100);
  row.replace_first(2);
  EXPECT_EQ(ahead(row, 11), (std::vector<std::int64_t>{9, 9, 9, 9, 8, 3, 7, 7, 8, 3, 7}));
  EXPECT_EQ(row.waiting()[1].reveal.after, 8u);
  row.waiting().pop_front();
  row.replace_first(1);
  EXPECT_EQ(ahead(row, 12), (std::vector<std::int64_t>{9, 9, 9, 9, 8, 3, 7, 7, 8, 1, 2, 7}));
}

TEST(RowBuffer, AHalfReadValueStaysWhereItIs) {
  RowBuffer row(std::make_unique<ThreePieces>(), 0);
  row.fill(6);
  row.advance(5);  // 9 9 9 9 8, and the first token of the value is chosen
  row.waiting().front().depth = 1;
  row.fill(50);
  EXPECT_EQ(row.next_place(), 0u);
  EXPECT_EQ(ahead(row, 4), (std::vector<std::int64_t>{1, 2, 7, 7}));
  row.replace_first(0);  // the value 1: its second token goes
  EXPECT_EQ(ahead(row, 6), (std::vector<std::int64_t>{1, 7, 7, 8, 3, 7}));
}

WaitingReveal certain_two() {
  return {.reveal = {.command = 5, .value = 1, .length = 2, .values = &kDigits}};
}

TEST(WaitingReveal, IsRightOnlyIfEveryChoiceIs) {
  WaitingReveal right = certain_two();
  right.take_along_truth({.best = 0, .nats = 1, .value_nats = 0.5, .strict = true});
  EXPECT_FALSE(right.at_true_end());
  right.take_along_truth({.best = 0, .nats = 2, .value_nats = 0.25, .strict = false});
  ASSERT_TRUE(right.at_true_end());
  EXPECT_EQ(right.chosen, 1u);
  const Answer answer = right.answer();
  EXPECT_TRUE(answer.right);
  EXPECT_FALSE(answer.strict);
  EXPECT_DOUBLE_EQ(answer.nats, 3);
  EXPECT_DOUBLE_EQ(answer.value_nats, 0.75);
  EXPECT_TRUE(answer.agrees);
  EXPECT_TRUE(answer.bayes_right);

  WaitingReveal wrong = certain_two();
  wrong.take_along_truth({.best = 1});  // token 3: the value 2
  wrong.take_along_truth({.best = 0});
  EXPECT_EQ(wrong.chosen, 2u);
  EXPECT_FALSE(wrong.answer().right);

  WaitingReveal unknown{.reveal = {.value = 2, .length = 1, .values = &kDigits}};
  unknown.take_along_truth({.best = 0});  // token 1 begins two values
  EXPECT_FALSE(unknown.chosen);
  EXPECT_FALSE(unknown.answer().agrees);
}

TEST(WaitingReveal, AgreesWithAnyOfTheMostProbableValues) {
  WaitingReveal waiting{.reveal = {.value = 2, .length = 1, .values = &kDigits}};
  waiting.reveal.belief = {0.4, 0.2, 0.4 * (1 + 1e-15)};
  waiting.take_along_truth({.best = 1});
  const Answer answer = waiting.answer();
  EXPECT_TRUE(answer.right);
  EXPECT_TRUE(answer.agrees);
  EXPECT_FALSE(answer.bayes_right);  // the first of the equal ones is another
  EXPECT_NEAR(answer.bayes_nats, -std::log(0.4), 1e-12);
}

}  // namespace
}  // namespace shellgame
