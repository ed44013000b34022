// The measures of an evaluation that are means over answers, in one table: a number of each answer,
// its name in JSON and CSV, its column for people. The numbers pass whole from the judgement of a
// token to the sums over traces, so that a new one is a member and a row here, and its formula in
// episode_buffer.cpp: in judge() and take_along_truth(), or in answer().
#pragma once

#include <array>

namespace shellgame {

// Cross entropies and regret are in nats.
struct AnswerNumbers {
  // Of the logits, along the tokens of the true value.
  double cross_entropy = 0;        // -log p(true value) among all tokens
  double value_cross_entropy = 0;  // the same among the values alone, renormalised
  // KL(belief || model) over the values; of a certain one -log p(it). The mean of the regrets at a
  // value's tokens is that of the values: the true one is drawn from the belief, so that a node is
  // met as often as the belief reaches it.
  double regret = 0;
  double total_variation = 0;  // between belief and model over the values; NaN: not known, since a
                               // value has several tokens
  double inside = 1;           // the model's probability that a value comes
  bool strict = false;         // no other token of the vocabulary is more likely
  // Of the answer as a whole.
  double miss = 0;                 // probability of the wrong values, among the values
  double outside = 0;              // the model's probability that no value comes
  double bayes_cross_entropy = 0;  // -log belief(true value)
  // The largest probability of the belief: how often its choice is right.
  double expected_bayes_accuracy = 0;
  double bayes_accuracy = 0;   // 1: the first of the most probable values is the true one
  double bayes_agreement = 0;  // 1: the chosen value is one of the most probable
};

struct Measure {
  enum class AtPositions { kNot, kJson, kText };
  const char* name;
  double AnswerNumbers::*number;
  bool of_belief = false;                        // nothing where beliefs are not known
  const char* column = nullptr;                  // its title for people; null: it has none
  bool is_share = false;                         // how people read it: "0.999997" is not "1.0000"
  AtPositions at_positions = AtPositions::kNot;  // listed reveal by reveal; kText: also for people
};

inline constexpr std::array kMeasures = {
    Measure{.name = "cross_entropy",
            .number = &AnswerNumbers::cross_entropy,
            .column = "nats",
            .at_positions = Measure::AtPositions::kText},
    Measure{.name = "value_cross_entropy",
            .number = &AnswerNumbers::value_cross_entropy,
            .at_positions = Measure::AtPositions::kJson},
    Measure{.name = "bayes_cross_entropy",
            .number = &AnswerNumbers::bayes_cross_entropy,
            .of_belief = true,
            .column = "Bayes",
            .at_positions = Measure::AtPositions::kText},
    Measure{.name = "regret",
            .number = &AnswerNumbers::regret,
            .of_belief = true,
            .column = "regret",
            .at_positions = Measure::AtPositions::kJson},
    Measure{.name = "miss", .number = &AnswerNumbers::miss},
    Measure{
        .name = "total_variation", .number = &AnswerNumbers::total_variation, .of_belief = true},
    Measure{.name = "outside", .number = &AnswerNumbers::outside, .column = "outside"},
    Measure{.name = "expected_bayes_accuracy",
            .number = &AnswerNumbers::expected_bayes_accuracy,
            .of_belief = true,
            .column = "best",
            .is_share = true},
    Measure{.name = "bayes_accuracy", .number = &AnswerNumbers::bayes_accuracy, .of_belief = true},
    Measure{.name = "bayes_agreement",
            .number = &AnswerNumbers::bayes_agreement,
            .of_belief = true,
            .column = "agrees",
            .is_share = true},
};

}  // namespace shellgame
