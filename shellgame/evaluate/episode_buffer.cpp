#include "shellgame/evaluate/episode_buffer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shellgame {

Judgement judge(const double* logits, double log_sum, double largest, const ValueTree::Node& node,
                std::uint32_t truth, std::uint32_t end, std::span<const double> belief) {
  const auto logit = [&](std::size_t branch) {
    const std::uint32_t token = node.tokens[branch];
    return logits[token == ValueTree::kEnd ? end : token];
  };
  Judgement judgement;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < node.tokens.size(); ++i) {
    if (logit(i) > best) {
      best = logit(i);
      judgement.best = static_cast<std::uint32_t>(i);
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < node.tokens.size(); ++i) sum += std::exp(logit(i) - best);
  const double own = logit(truth);
  const double log_branches = best + std::log(sum);
  AnswerNumbers& numbers = judgement.numbers;
  // Rounding must not make a certainty better than certain.
  numbers.cross_entropy = std::max(0.0, log_sum - own);
  numbers.value_cross_entropy = std::max(0.0, log_branches - own);
  numbers.strict = own >= largest;
  numbers.inside = std::min(1.0, std::exp(log_branches - log_sum));
  double regret = belief.empty() ? numbers.value_cross_entropy : 0;
  for (std::size_t i = 0; i < belief.size(); ++i) {
    if (belief[i] > 0) regret += belief[i] * (std::log(belief[i]) - logit(i) + log_branches);
  }
  numbers.regret = std::max(0.0, regret);
  for (std::size_t i = 0; i < node.tokens.size(); ++i) {
    const double known = belief.empty() ? (i == truth ? 1 : 0) : belief[i];
    numbers.total_variation += std::abs(known - std::exp(logit(i) - log_branches)) / 2;
  }
  return judgement;
}

void WaitingQuestion::take_along_truth(const Judgement& judgement) {
  const AnswerNumbers& next = judgement.numbers;
  numbers.cross_entropy += next.cross_entropy;
  numbers.value_cross_entropy += next.value_cross_entropy;
  numbers.strict = numbers.strict && next.strict;
  numbers.regret += next.regret;
  numbers.inside *= next.inside;
  numbers.total_variation =
      depth == 0 ? next.total_variation : std::numeric_limits<double>::quiet_NaN();
  const ValueTree& values = *question.values;
  const std::uint32_t truth = true_branch();
  if (right && judgement.best != truth) {
    right = false;
    const std::uint32_t below = values.node(node).next[judgement.best];
    if (values.node(below).one_value) chosen = values.node(below).value;
  }
  node = values.node(node).next[truth];
  ++depth;
  if (right && at_true_end()) chosen = question.value;
}

Answer WaitingQuestion::answer() const {
  Answer answer{.command = question.command, .right = right, .numbers = numbers};
  AnswerNumbers& all = answer.numbers;
  all.strict = right && all.strict;
  all.miss = -std::expm1(-all.value_cross_entropy);
  all.outside = 1 - all.inside;
  // A certain value is Bayes' choice.
  all.bayes_agreement = right;
  all.bayes_accuracy = all.expected_bayes_accuracy = 1;
  if (question.belief.empty()) return answer;
  // Equal probabilities differ by rounding: all of them are most probable.
  constexpr double kEqual = 1e-9;
  const auto best = std::ranges::max_element(question.belief);
  const auto first =
      std::ranges::find_if(question.belief, [&](double p) { return p >= *best * (1 - kEqual); });
  all.bayes_agreement = chosen && question.belief[*chosen] >= *best * (1 - kEqual);
  all.bayes_accuracy =
      first - question.belief.begin() == static_cast<std::ptrdiff_t>(question.value);
  all.bayes_cross_entropy = -std::log(question.belief[question.value]);
  all.expected_bayes_accuracy = *best;
  return answer;
}

void EpisodeBuffer::fill(std::size_t tokens) {
  while (!ended_ && ids_.size() - read_ < tokens) {
    if (!episode_->next(piece_, tokens - (ids_.size() - read_))) {
      ended_ = true;
      return;
    }
    // What has been read is not needed again, except for a value that is half read.
    const std::size_t drop =
        waiting_.empty() ? read_ : std::min<std::size_t>(read_, waiting_.front().question.after);
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(drop));
    for (WaitingQuestion& waiting : waiting_) waiting.question.after -= drop;
    read_ -= drop;
    for (Question& question : piece_.questions) {
      question.after += ids_.size();
      waiting_.push_back({.question = std::move(question)});
    }
    ids_.insert(ids_.end(), piece_.ids.begin(), piece_.ids.end());
  }
}

std::size_t EpisodeBuffer::left() const {
  if (!ended_) return ids_.size() - read_;
  if (waiting_.empty()) return 0;
  const WaitingQuestion& last = waiting_.back();
  // A value that begins another one is only known by the token after it.
  return std::min(ids_.size(), last.question.after + last.question.length + 1) - read_;
}

void EpisodeBuffer::copy(std::int64_t* to, std::size_t count) const {
  const std::size_t here = std::min(count, ids_.size() - read_);
  std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(read_), here, to);
  std::fill(to + here, to + count, 0);
}

void EpisodeBuffer::advance(std::size_t count) { read_ += std::min(count, ids_.size() - read_); }

std::optional<std::size_t> EpisodeBuffer::next_place() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().place() - read_;
}

void EpisodeBuffer::replace_first(std::uint32_t value) {
  Question& first = waiting_.front().question;
  const std::vector<std::uint32_t>& tokens = first.values->tokens(value);
  const auto from = ids_.begin() + static_cast<std::ptrdiff_t>(first.after + 1);
  const auto end = from + first.length;
  if (tokens.size() == first.length) {
    std::ranges::copy(tokens, from);
    return;
  }
  const auto at = ids_.erase(from, end);
  ids_.insert(at, tokens.begin(), tokens.end());
  for (std::size_t i = 1; i < waiting_.size(); ++i) {
    waiting_[i].question.after += tokens.size() - first.length;  // modulo 2^64
  }
  first.length = static_cast<std::uint32_t>(tokens.size());
}

}  // namespace shellgame
