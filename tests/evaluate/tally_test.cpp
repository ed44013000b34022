#include "shellgame/evaluate/tally.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// A trace as a word: '+' for a right reveal, '-' for a wrong one, one every `spacing` commands.
void add_word(Tally& tally, std::size_t trace, const std::string& word, std::uint64_t spacing) {
  for (std::size_t k = 0; k < word.size(); ++k) {
    const bool right = word[k] == '+';
    tally.add(trace, {.command = (k + 1) * spacing,
                      .right = right,
                      .numbers = {.cross_entropy = right ? 0.25 : 2.0,
                                  .value_cross_entropy = right ? 0.125 : 1.0,
                                  .strict = right && k % 2 == 0,
                                  .bayes_cross_entropy = 0.5,
                                  .bayes_accuracy = 1,
                                  .bayes_agreement = right ? 1.0 : 0.0}});
  }
}

Tally four_words() {
  Tally tally(4);
  add_word(tally, 0, "++++++++", 2);
  add_word(tally, 1, "++++-+++", 2);
  add_word(tally, 2, "+-+-+---", 2);
  add_word(tally, 3, "-++++++-", 2);
  return tally;
}

TEST(Tally, TheSharesAreThoseCountedByHand) {
  const Statistics s = statistics_of(four_words(), {.chance = 0.2, .length = 16});
  EXPECT_EQ(s.traces, 4u);
  EXPECT_EQ(s.reveals, 32u);
  EXPECT_EQ(s.accuracy.right, 8u + 7 + 3 + 6);
  EXPECT_DOUBLE_EQ(s.accuracy.value, 24.0 / 32);
  EXPECT_DOUBLE_EQ(s.scaled_accuracy, (0.75 - 0.2) / 0.8);
  // Even places only: 4, 4 - 1, 3, 4 - 1.
  EXPECT_EQ(s.strict_accuracy.right, 4u + 3 + 3 + 3);
  const Cluster strict[] = {{4, 8}, {3, 8}, {3, 8}, {3, 8}};
  EXPECT_EQ(s.strict_accuracy.bounds, clustered_bounds(strict));
  EXPECT_EQ(s.final_accuracy.right, 2u);
  EXPECT_EQ(s.final_accuracy.of, 4u);
  EXPECT_EQ(s.last_quarter_accuracy.right, 2u + 2 + 0 + 1);
  EXPECT_EQ(s.last_quarter_accuracy.of, 8u);
  EXPECT_EQ(s.last_eighth_accuracy.right, s.final_accuracy.right);
  EXPECT_EQ(s.whole_prefix_accuracy.right, 1u);
  EXPECT_EQ(s.whole_prefix_accuracy.bounds, binomial_bounds(1, 4));
  EXPECT_DOUBLE_EQ(s.mean.cross_entropy, (24 * 0.25 + 8 * 2) / 32);
  EXPECT_DOUBLE_EQ(s.mean.value_cross_entropy, (24 * 0.125 + 8 * 1) / 32);
  EXPECT_DOUBLE_EQ(s.mean.bayes_cross_entropy, 0.5);
  EXPECT_DOUBLE_EQ(s.mean.bayes_accuracy, 1);
  EXPECT_DOUBLE_EQ(s.mean.bayes_agreement, 0.75);
  // Accuracies of the traces: 1, 7/8, 3/8, 6/8.
  const double mean = 0.75, squares = 0.0625 + 0.015625 + 0.140625 + 0;
  EXPECT_DOUBLE_EQ(mean, s.accuracy.value);
  EXPECT_DOUBLE_EQ(s.standard_error, std::sqrt(squares / 3) / 2);
}

TEST(Tally, BoundsComeFromTheTracesNotFromTheReveals) {
  const Statistics s = statistics_of(four_words(), {.chance = 0.2, .length = 16});
  const std::vector<Cluster> traces = {{8, 8}, {7, 8}, {3, 8}, {6, 8}};
  EXPECT_EQ(s.accuracy.bounds, clustered_bounds(traces));
  EXPECT_LT(s.accuracy.bounds.low, binomial_bounds(24, 32).low);
  // Regrets that differ between traces only: the error is that of four numbers.
  Tally tally(4);
  const double regrets[] = {0.1, 0.2, 0.4, 0.5};
  for (std::size_t trace = 0; trace < 4; ++trace) {
    for (int k = 0; k < 10; ++k)
      tally.add(trace, {.right = true,
                        .numbers = {.regret = regrets[trace],
                                    .total_variation = regrets[trace] / 4,
                                    .miss = regrets[trace] / 2,
                                    .outside = 0.25,
                                    .expected_bayes_accuracy = 0.5}});
  }
  const Statistics found = statistics_of(tally, {.chance = 0.2});
  EXPECT_NEAR(found.mean.regret, 0.3, 1e-15);
  EXPECT_DOUBLE_EQ(found.mean.outside, 0.25);
  EXPECT_NEAR(found.mean.miss, 0.15, 1e-15);
  EXPECT_NEAR(found.mean.total_variation, 0.075, 1e-15);
  EXPECT_DOUBLE_EQ(found.mean.expected_bayes_accuracy, 0.5);
  const double error = std::sqrt((0.04 + 0.01 + 0.01 + 0.04) / 3) / 2;
  EXPECT_NEAR(found.regret_bounds.low, 0.3 - student_quantile(0.975, 3) * error, 1e-12);
  EXPECT_NEAR(found.regret_bounds.high, 0.3 + student_quantile(0.975, 3) * error, 1e-12);
}

TEST(Tally, FirstFailuresAndTheSurvivalCurveAgree) {
  const Tally tally = four_words();
  const Statistics s = statistics_of(tally, {.chance = 0.2, .length = 20});
  // None, command 10, command 4, command 2.
  EXPECT_DOUBLE_EQ(s.first_failure_mean, (20 + 10 + 4 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(s.first_failure_median.value(), 4);
  // The area below the curve: all live until command 2, then 3 of 4 until 4, 2 until 10, 1 to 20.
  EXPECT_DOUBLE_EQ(s.first_failure_mean, 2 * 1 + 2 * 0.75 + 6 * 0.5 + 10 * 0.25);
  const double curve[] = {3, 2, 2, 2, 1, 1, 1, 1};
  ASSERT_EQ(s.positions.size(), 8u);
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_DOUBLE_EQ(s.positions[k].whole_prefix.value, curve[k] / 4) << k;
    EXPECT_DOUBLE_EQ(s.positions[k].command, static_cast<double>(2 * (k + 1)));
  }
}

TEST(Tally, NoMedianWhileHalfOfTheTracesLive) {
  Tally tally(3);
  add_word(tally, 0, "++", 1);
  add_word(tally, 1, "++", 1);
  add_word(tally, 2, "-+", 1);
  const Statistics s = statistics_of(tally, {});
  EXPECT_FALSE(s.first_failure_median);
  EXPECT_DOUBLE_EQ(s.first_failure_mean, (2 + 2 + 1) / 3.0);
}

TEST(Tally, EachPositionHasItsOwnAccuracy) {
  const Statistics s = statistics_of(four_words(), {.length = 16});
  const std::uint64_t right[] = {3, 3, 4, 3, 3, 3, 3, 2};
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_EQ(s.positions[k].first, k + 1);
    EXPECT_EQ(s.positions[k].accuracy.right, right[k]) << k;
    EXPECT_EQ(s.positions[k].accuracy.bounds, binomial_bounds(right[k], 4));
  }
}

TEST(Tally, ManyPositionsAreGrouped) {
  const Statistics s = statistics_of(four_words(), {.length = 16, .most_positions = 3});
  ASSERT_EQ(s.positions.size(), 3u);  // 3 + 3 + 2
  EXPECT_EQ(s.positions[0].first, 1u);
  EXPECT_EQ(s.positions[0].last, 3u);
  EXPECT_EQ(s.positions[0].accuracy.right, 10u);
  EXPECT_EQ(s.positions[0].accuracy.of, 12u);
  const Cluster first_three[] = {{3, 3}, {3, 3}, {2, 3}, {2, 3}};
  EXPECT_EQ(s.positions[0].accuracy.bounds, clustered_bounds(first_three));
  const Cluster last_two[] = {{2, 2}, {2, 2}, {0, 2}, {1, 2}};
  EXPECT_EQ(s.positions[2].accuracy.bounds, clustered_bounds(last_two));
  EXPECT_EQ(s.positions[0].whole_prefix.right, 2u);
  EXPECT_DOUBLE_EQ(s.positions[0].command, 4);
  EXPECT_EQ(s.positions[2].last, 8u);
}

TEST(Tally, QuartersAndEighthsAreRoundedUp) {
  Tally tally(1);
  add_word(tally, 0, "++++--+++", 1);  // nine: a quarter is three, an eighth two
  const Statistics s = statistics_of(tally, {});
  EXPECT_EQ(s.last_quarter_accuracy.of, 3u);
  EXPECT_EQ(s.last_eighth_accuracy.of, 2u);
}

TEST(Tally, AppendedTalliesAreOneTally) {
  Tally first(2), second(2);
  add_word(first, 0, "++++++++", 2);
  add_word(first, 1, "++++-+++", 2);
  add_word(second, 0, "+-+-+---", 2);
  add_word(second, 1, "-++++++-", 2);
  first.append(second);
  const Statistics a = statistics_of(first, {.length = 16}),
                   b = statistics_of(four_words(), {.length = 16});
  EXPECT_EQ(a.accuracy.right, b.accuracy.right);
  EXPECT_EQ(a.mean.cross_entropy, b.mean.cross_entropy);
  EXPECT_EQ(a.first_failure_mean, b.first_failure_mean);
  EXPECT_EQ(a.positions[3].whole_prefix.right, b.positions[3].whole_prefix.right);
}

TEST(Tally, TheOrderOfTracesDoesNotMatter) {
  Tally tally(2);
  tally.add(1, {.command = 1, .right = true, .numbers = {.cross_entropy = 1}});
  tally.add(0, {.command = 1, .right = false, .numbers = {.cross_entropy = 2}});
  tally.add(1, {.command = 2, .right = false, .numbers = {.cross_entropy = 4}});
  const Statistics s = statistics_of(tally, {});
  EXPECT_EQ(s.positions[0].accuracy.right, 1u);
  EXPECT_EQ(s.positions[1].accuracy.of, 1u);
  EXPECT_DOUBLE_EQ(s.mean.cross_entropy, 7.0 / 3);
}

TEST(Tally, WithoutARevealThereIsNothingToSay) {
  EXPECT_THROW(statistics_of(Tally(3), {}), UsageError);
}

}  // namespace
}  // namespace shellgame
