// Counts of right and wrong answers, reveal by reveal, and the statistics that the field reports of
// them. A trace is a row of reveals; a sequence's targets are counted in the same way. Memory: one
// bit a reveal of each trace, and sums for each position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shellgame/evaluate/binomial.h"
#include "shellgame/evaluate/measures.h"

namespace shellgame {

// What a model said at one reveal.
struct Answer {
  std::uint64_t command = 0;  // commands executed before the reveal
  bool right = false;         // the most likely value is the true one
  AnswerNumbers numbers = {};
};

class Tally {
 public:
  explicit Tally(std::size_t traces);

  // The next reveal of a trace. Reveals of one trace come in their order, traces in any.
  void add(std::size_t trace, const Answer& answer);
  // The traces of `other` come after those that are here.
  void append(const Tally& other);

  // Sums over all traces at one position (the k-th reveal of a trace, from 0).
  struct Position {
    std::uint64_t traces = 0, right = 0;
    std::uint64_t whole = 0;     // traces whose reveals up to here are all right
    std::uint64_t commands = 0;  // sum over traces
    AnswerNumbers sums = {};     // those of kMeasures
    Position& operator+=(const Position& other);
    AnswerNumbers mean() const;
  };
  struct Trace {
    std::vector<bool> right;                     // by reveal
    std::uint64_t strict = 0;                    // how many are strictly right
    std::optional<std::uint64_t> first_failure;  // the command of the first wrong reveal
    std::uint64_t last_command = 0;              // of the last reveal
    double regret = 0;                           // sum
  };
  const std::vector<Position>& positions() const { return positions_; }
  const std::vector<Trace>& traces() const { return traces_; }

 private:
  std::vector<Position> positions_;
  std::vector<Trace> traces_;
};

// A share with its bounds. Reveals of one trace are not independent: where a trace gives several of
// the trials, the bounds are those of as many independent ones as the spread between traces is
// worth (clustered_bounds).
struct Share {
  std::uint64_t right = 0, of = 0;
  double value = 0;
  Bounds bounds;
};

// Consecutive positions taken together: one position each, unless there are too many to list.
struct PositionGroup {
  std::size_t first = 0, last = 0;  // counted from 1
  double command = 0;               // mean over the reveals of the group
  Share accuracy;
  Share whole_prefix;       // traces right from the first reveal to the group's last
  AnswerNumbers mean = {};  // those of kMeasures
};

struct Statistics {
  std::uint64_t traces = 0, reveals = 0;
  Share accuracy, strict_accuracy;
  Share final_accuracy;         // the last reveal of each trace
  Share last_quarter_accuracy;  // the last quarter of each trace's reveals, rounded up
  Share last_eighth_accuracy;
  Share whole_prefix_accuracy;  // traces without any error
  double chance = 0;            // of a blind guess
  double scaled_accuracy = 0;   // (accuracy - chance) / (1 - chance)
  double standard_error = 0;    // of the accuracy, from the spread of the traces' own accuracies
  AnswerNumbers mean = {};      // those of kMeasures, over all reveals
  Bounds regret_bounds;         // over traces
  // The first failure of a trace comes at the command of its first wrong reveal; a trace without
  // one counts as its whole length. The mean is that of min(first failure, length): the area below
  // the survival curve.
  double first_failure_mean = 0;
  std::optional<double> first_failure_median;  // none while half of the traces have not failed
  std::vector<PositionGroup> positions;
};

struct StatisticsOptions {
  double chance = 0;
  std::uint64_t length = 0;          // commands of a trace; 0: up to its last reveal
  std::size_t most_positions = 256;  // more than these are put together in equal groups
  double confidence = 0.95;
};

// Throws UsageError if there is no reveal.
Statistics statistics_of(const Tally& tally, const StatisticsOptions& options);

}  // namespace shellgame
