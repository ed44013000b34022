#include "shellgame/evaluate/episode_buffer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace shellgame {
namespace {

const ValueTree kDigits({{1}, {1, 2}, {3}});

// Three pieces; a value of two tokens (1 2) is shown in the second.
class ThreePieces final : public Episode {
 public:
  bool next(Piece& piece, std::size_t) override {
    piece.questions.clear();
    if (given_ == 3) return false;
    if (given_ == 0) piece.ids = {9, 9, 9, 9};
    if (given_ == 1) {
      piece.ids = {8, 1, 2, 7, 7};
      piece.questions.push_back(
          {.command = 1, .value = 1, .after = 0, .length = 2, .end_token = 7, .values = &kDigits});
    }
    if (given_ == 2) {
      piece.ids = {8, 3, 7, 6, 6, 6};
      piece.questions.push_back(
          {.command = 2, .value = 2, .after = 0, .length = 1, .end_token = 7, .values = &kDigits});
    }
    ++given_;
    return true;
  }

 private:
  int given_ = 0;
};

std::vector<std::int64_t> ahead(const EpisodeBuffer& row, std::size_t count) {
  std::vector<std::int64_t> ids(count);
  row.copy(ids.data(), count);
  return ids;
}

TEST(Judge, IsTheSoftmaxAmongAllAndAmongTheBranches) {
  const double logits[] = {0, 1, 2, 3, 4};
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  // The branches of the root are the tokens 1 and 3.
  const Judgement low = judge(logits, std::log(sum), 4, kDigits.node(ValueTree::kRoot), 0, 0);
  EXPECT_EQ(low.best, 1u);
  EXPECT_NEAR(low.numbers.cross_entropy, std::log(sum) - 1, 1e-14);
  EXPECT_NEAR(low.numbers.value_cross_entropy, std::log1p(std::exp(2.0)), 1e-14);
  EXPECT_FALSE(low.numbers.strict);
  const Judgement high = judge(logits, std::log(sum), 3, kDigits.node(ValueTree::kRoot), 1, 0);
  EXPECT_NEAR(high.numbers.value_cross_entropy, std::log1p(std::exp(-2.0)), 1e-14);
  EXPECT_TRUE(high.numbers.strict);
  // Below token 1: token 2, or the end, for which token 4 stands here.
  const auto& below = kDigits.node(kDigits.node(ValueTree::kRoot).next[0]);
  EXPECT_EQ(below.tokens[judge(logits, std::log(sum), 4, below, 0, 4).best], ValueTree::kEnd);
  EXPECT_EQ(below.tokens[judge(logits, std::log(sum), 4, below, 0, 0).best], 2u);
}

TEST(EpisodeBuffer, ReadsAheadAndForgetsWhatWasRead) {
  EpisodeBuffer row(std::make_unique<ThreePieces>(), 0);
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

TEST(EpisodeBuffer, AnotherValueMayBeShorterOrLonger) {
  EpisodeBuffer row(std::make_unique<ThreePieces>(), 0);
  row.fill(100);
  row.replace_first(2);
  EXPECT_EQ(ahead(row, 11), (std::vector<std::int64_t>{9, 9, 9, 9, 8, 3, 7, 7, 8, 3, 7}));
  EXPECT_EQ(row.waiting()[1].question.after, 8u);
  row.waiting().pop_front();
  row.replace_first(1);
  EXPECT_EQ(ahead(row, 12), (std::vector<std::int64_t>{9, 9, 9, 9, 8, 3, 7, 7, 8, 1, 2, 7}));
}

TEST(EpisodeBuffer, AHalfReadValueStaysWhereItIs) {
  EpisodeBuffer row(std::make_unique<ThreePieces>(), 0);
  row.fill(6);
  row.advance(5);  // 9 9 9 9 8, and the first token of the value is chosen
  row.waiting().front().depth = 1;
  row.fill(50);
  EXPECT_EQ(row.next_place(), 0u);
  EXPECT_EQ(ahead(row, 4), (std::vector<std::int64_t>{1, 2, 7, 7}));
  row.replace_first(0);  // the value 1: its second token goes
  EXPECT_EQ(ahead(row, 6), (std::vector<std::int64_t>{1, 7, 7, 8, 3, 7}));
}

TEST(Judge, RegretIsTheDivergenceFromTheBelief) {
  const double logits[] = {0, 1, 2, 3, 4};
  double sum = 0;
  for (const double x : logits) sum += std::exp(x);
  const auto& root = kDigits.node(ValueTree::kRoot);  // tokens 1 and 3
  const double belief[] = {0.25, 0.75};
  const double q = std::exp(3.0) / (std::exp(1.0) + std::exp(3.0));
  const Judgement judgement = judge(logits, std::log(sum), 4, root, 0, 0, belief);
  EXPECT_NEAR(judgement.numbers.regret, 0.25 * std::log(0.25 / (1 - q)) + 0.75 * std::log(0.75 / q),
              1e-14);
  EXPECT_NEAR(judgement.numbers.inside, (std::exp(1.0) + std::exp(3.0)) / sum, 1e-14);
  EXPECT_NEAR(judgement.numbers.total_variation, std::abs(0.75 - q), 1e-14);
  EXPECT_NEAR(judge(logits, std::log(sum), 4, root, 0, 0).numbers.total_variation, q, 1e-14);
  // A model that says the belief has none; of what is certain it is the surprise.
  const double equal[] = {0, std::log(0.25), 0, std::log(0.75), 0};
  EXPECT_NEAR(judge(equal, 1, 0, root, 0, 0, belief).numbers.regret, 0, 1e-15);
  EXPECT_NEAR(judge(logits, std::log(sum), 4, root, 0, 0).numbers.regret, -std::log(1 - q), 1e-14);
}

TEST(WaitingQuestion, MissIsTheProbabilityOfTheOtherValues) {
  WaitingQuestion waiting{.question = {.value = 1, .length = 2, .values = &kDigits}};
  waiting.take_along_truth(
      {.best = 0, .numbers = {.value_cross_entropy = -std::log(0.5), .total_variation = 0.25}});
  EXPECT_DOUBLE_EQ(waiting.answer().numbers.total_variation, 0.25);
  waiting.take_along_truth({.best = 0, .numbers = {.value_cross_entropy = -std::log(0.25)}});
  EXPECT_DOUBLE_EQ(waiting.answer().numbers.miss, 0.875);
}

// The values 1 and 17 share their first token: 0.5 of 0.8, then 0.3 of it.
TEST(WaitingQuestion, TheBeliefDescendsTheTreeOfTokens) {
  WaitingQuestion waiting{.question = {.value = 1, .length = 2, .values = &kDigits}};
  waiting.question.belief = {0.5, 0.3, 0.2};
  EXPECT_EQ(waiting.branch_belief(), (std::vector<double>{0.8, 0.2}));
  waiting.take_along_truth({.best = 0, .numbers = {.regret = 0.5, .inside = 0.5}});
  const std::vector<double> below = waiting.branch_belief();
  ASSERT_EQ(below.size(), 2u);
  const auto& tokens = kDigits.node(waiting.node).tokens;
  EXPECT_DOUBLE_EQ(below[tokens[0] == 2 ? 0 : 1], 0.3 / 0.8);
  EXPECT_DOUBLE_EQ(below[tokens[0] == 2 ? 1 : 0], 0.5 / 0.8);
  waiting.take_along_truth({.best = 0, .numbers = {.regret = 0.25, .inside = 0.5}});
  EXPECT_DOUBLE_EQ(waiting.answer().numbers.regret, 0.75);
  // The distance over the values is not that of their first tokens.
  EXPECT_TRUE(std::isnan(waiting.answer().numbers.total_variation));
  EXPECT_DOUBLE_EQ(waiting.answer().numbers.outside, 0.75);
  EXPECT_DOUBLE_EQ(waiting.answer().numbers.expected_bayes_accuracy, 0.5);
}

WaitingQuestion certain_two() {
  return {.question = {.command = 5, .value = 1, .length = 2, .values = &kDigits}};
}

TEST(WaitingQuestion, IsRightOnlyIfEveryChoiceIs) {
  WaitingQuestion right = certain_two();
  right.take_along_truth(
      {.best = 0, .numbers = {.cross_entropy = 1, .value_cross_entropy = 0.5, .strict = true}});
  EXPECT_FALSE(right.at_true_end());
  right.take_along_truth(
      {.best = 0, .numbers = {.cross_entropy = 2, .value_cross_entropy = 0.25, .strict = false}});
  ASSERT_TRUE(right.at_true_end());
  EXPECT_EQ(right.chosen, 1u);
  const Answer answer = right.answer();
  EXPECT_TRUE(answer.right);
  EXPECT_FALSE(answer.numbers.strict);
  EXPECT_DOUBLE_EQ(answer.numbers.cross_entropy, 3);
  EXPECT_DOUBLE_EQ(answer.numbers.value_cross_entropy, 0.75);
  EXPECT_TRUE(answer.numbers.bayes_agreement);
  EXPECT_TRUE(answer.numbers.bayes_accuracy);

  WaitingQuestion wrong = certain_two();
  wrong.take_along_truth({.best = 1});  // token 3: the value 2
  wrong.take_along_truth({.best = 0});
  EXPECT_EQ(wrong.chosen, 2u);
  EXPECT_FALSE(wrong.answer().right);

  WaitingQuestion unknown{.question = {.value = 2, .length = 1, .values = &kDigits}};
  unknown.take_along_truth({.best = 0});  // token 1 begins two values
  EXPECT_FALSE(unknown.chosen);
  EXPECT_FALSE(unknown.answer().numbers.bayes_agreement);
}

TEST(WaitingQuestion, AgreesWithAnyOfTheMostProbableValues) {
  WaitingQuestion waiting{.question = {.value = 2, .length = 1, .values = &kDigits}};
  waiting.question.belief = {0.4, 0.2, 0.4 * (1 + 1e-15)};
  waiting.take_along_truth({.best = 1});
  const Answer answer = waiting.answer();
  EXPECT_TRUE(answer.right);
  EXPECT_TRUE(answer.numbers.bayes_agreement);
  EXPECT_FALSE(answer.numbers.bayes_accuracy);  // the first of the equal ones is another
  EXPECT_NEAR(answer.numbers.bayes_cross_entropy, -std::log(0.4), 1e-12);
}

}  // namespace
}  // namespace shellgame
