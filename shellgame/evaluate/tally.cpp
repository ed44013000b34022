#include "shellgame/evaluate/tally.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

double ratio(double part, std::uint64_t of) { return of == 0 ? 0 : part / static_cast<double>(of); }

Share share_of(std::uint64_t right, std::uint64_t of, double confidence) {
  return {right, of, ratio(static_cast<double>(right), of), binomial_bounds(right, of, confidence)};
}

// A share of trials of which each trace gives several.
Share clustered_share(const std::vector<Cluster>& traces, double confidence) {
  Share share;
  for (const Cluster& trace : traces) {
    share.right += trace.right;
    share.of += trace.of;
  }
  share.value = ratio(static_cast<double>(share.right), share.of);
  share.bounds = clustered_bounds(traces, confidence);
  return share;
}

// Right ones among the last 1/part of each trace's reveals.
Share last_part(const Tally& tally, std::size_t part, double confidence) {
  std::vector<Cluster> traces;
  for (const Tally::Trace& trace : tally.traces()) {
    const std::size_t size = trace.right.size(), last = (size + part - 1) / part;
    const auto right =
        std::count(trace.right.end() - static_cast<std::ptrdiff_t>(last), trace.right.end(), true);
    traces.push_back({static_cast<std::uint64_t>(right), last});
  }
  return clustered_share(traces, confidence);
}

// Bounds of a mean over all reveals: a ratio of sums, whose error comes from the traces.
Bounds regret_bounds(const Tally& tally, double mean, double confidence) {
  double squares = 0, reveals = 0, traces = 0;
  for (const Tally::Trace& trace : tally.traces()) {
    if (trace.right.empty()) continue;
    const auto size = static_cast<double>(trace.right.size());
    squares += (trace.regret - mean * size) * (trace.regret - mean * size);
    reveals += size;
    traces += 1;
  }
  // A certainty that was wrong costs infinitely much.
  if (!std::isfinite(mean)) return {mean, mean};
  if (traces < 2) return {0, std::numeric_limits<double>::infinity()};
  const double error = std::sqrt(squares * traces / (traces - 1)) / reveals;
  const double reach = student_quantile((1 + confidence) / 2, traces - 1) * error;
  return {std::max(0.0, mean - reach), mean + reach};
}

void add_first_failures(const Tally& tally, const StatisticsOptions& options, Statistics& result) {
  std::vector<double> failures;
  double sum = 0;
  for (const Tally::Trace& trace : tally.traces()) {
    const std::uint64_t length = options.length > 0 ? options.length : trace.last_command;
    sum += static_cast<double>(trace.first_failure.value_or(length));
    if (trace.first_failure) failures.push_back(static_cast<double>(*trace.first_failure));
  }
  result.first_failure_mean = ratio(sum, tally.traces().size());
  // The survival curve falls to one half or below at the median.
  const std::size_t half = (tally.traces().size() + 1) / 2;
  if (failures.size() >= half && half > 0) {
    std::ranges::sort(failures);
    result.first_failure_median = failures[half - 1];
  }
}

double standard_error_of(const Tally& tally) {
  std::vector<double> shares;
  for (const Tally::Trace& trace : tally.traces()) {
    if (trace.right.empty()) continue;
    const auto right = std::count(trace.right.begin(), trace.right.end(), true);
    shares.push_back(ratio(static_cast<double>(right), trace.right.size()));
  }
  return spread_of(shares).deviation / std::sqrt(static_cast<double>(shares.size()));
}

// The reveals from `first` to `end` of each trace that has any of them.
Share share_at(const Tally& tally, std::size_t first, std::size_t end, double confidence) {
  std::vector<Cluster> traces;
  for (const Tally::Trace& trace : tally.traces()) {
    const std::size_t last = std::min(end, trace.right.size());
    if (first >= last) continue;
    const auto begin = trace.right.begin();
    const auto right = std::count(begin + static_cast<std::ptrdiff_t>(first),
                                  begin + static_cast<std::ptrdiff_t>(last), true);
    traces.push_back({static_cast<std::uint64_t>(right), last - first});
  }
  return clustered_share(traces, confidence);
}

void add_positions(const Tally& tally, const StatisticsOptions& options, Statistics& result) {
  const std::vector<Tally::Position>& all = tally.positions();
  const std::size_t most = std::max<std::size_t>(options.most_positions, 1);
  const std::size_t size = (all.size() + most - 1) / most;  // of a group
  for (std::size_t first = 0; first < all.size(); first += size) {
    const std::size_t end = std::min(first + size, all.size());
    Tally::Position sum;
    for (std::size_t k = first; k < end; ++k) sum += all[k];
    PositionGroup group;
    group.first = first + 1;
    group.last = end;
    group.command = ratio(static_cast<double>(sum.commands), sum.traces);
    group.accuracy = size == 1 ? share_of(sum.right, sum.traces, options.confidence)
                               : share_at(tally, first, end, options.confidence);
    group.whole_prefix = share_of(all[end - 1].whole, all[end - 1].traces, options.confidence);
    group.mean = sum.mean();
    result.positions.push_back(group);
  }
}

}  // namespace

Tally::Position& Tally::Position::operator+=(const Position& other) {
  traces += other.traces;
  right += other.right;
  whole += other.whole;
  commands += other.commands;
  for (const Measure& measure : kMeasures) sums.*measure.number += other.sums.*measure.number;
  return *this;
}

AnswerNumbers Tally::Position::mean() const {
  AnswerNumbers mean;
  for (const Measure& measure : kMeasures)
    mean.*measure.number = ratio(sums.*measure.number, traces);
  return mean;
}

Tally::Tally(std::size_t traces) : traces_(traces) {}

void Tally::add(std::size_t trace, const Answer& answer) {
  Trace& seen = traces_[trace];
  const std::size_t k = seen.right.size();
  seen.right.push_back(answer.right);
  seen.strict += answer.numbers.strict;
  seen.last_command = answer.command;
  seen.regret += answer.numbers.regret;
  if (!answer.right && !seen.first_failure) seen.first_failure = answer.command;
  if (k == positions_.size()) positions_.emplace_back();
  positions_[k] += {.traces = 1,
                    .right = answer.right,
                    .whole = !seen.first_failure,
                    .commands = answer.command,
                    .sums = answer.numbers};
}

void Tally::append(const Tally& other) {
  traces_.insert(traces_.end(), other.traces_.begin(), other.traces_.end());
  positions_.resize(std::max(positions_.size(), other.positions_.size()));
  for (std::size_t k = 0; k < other.positions_.size(); ++k) positions_[k] += other.positions_[k];
}

Statistics statistics_of(const Tally& tally, const StatisticsOptions& options) {
  Tally::Position all;
  for (const Tally::Position& position : tally.positions()) all += position;
  if (all.traces == 0) {
    wrong_use("the traces must reveal a value: no print or 'assert ==' stands in any of them");
  }
  const double confidence = options.confidence;
  Statistics result;
  result.traces = tally.traces().size();
  result.reveals = all.traces;
  std::vector<Cluster> traces, strict;
  for (const Tally::Trace& trace : tally.traces()) {
    traces.push_back(
        {static_cast<std::uint64_t>(std::ranges::count(trace.right, true)), trace.right.size()});
    strict.push_back({trace.strict, trace.right.size()});
  }
  result.accuracy = clustered_share(traces, confidence);
  result.strict_accuracy = clustered_share(strict, confidence);
  std::uint64_t with_reveals = 0, right_at_last = 0, whole = 0;
  for (const Tally::Trace& trace : tally.traces()) {
    if (trace.right.empty()) continue;
    ++with_reveals;
    right_at_last += trace.right.back();
    whole += !trace.first_failure;
  }
  result.final_accuracy = share_of(right_at_last, with_reveals, confidence);
  result.whole_prefix_accuracy = share_of(whole, with_reveals, confidence);
  result.last_quarter_accuracy = last_part(tally, 4, confidence);
  result.last_eighth_accuracy = last_part(tally, 8, confidence);
  result.chance = options.chance;
  // With a single value a guess is always right, and nothing is left to scale.
  result.scaled_accuracy =
      options.chance < 1 ? (result.accuracy.value - options.chance) / (1 - options.chance) : 0;
  result.standard_error = standard_error_of(tally);
  result.mean = all.mean();
  result.regret_bounds = regret_bounds(tally, result.mean.regret, confidence);
  add_first_failures(tally, options, result);
  add_positions(tally, options, result);
  return result;
}

}  // namespace shellgame
