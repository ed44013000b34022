// Batches for next-token prediction: ids, targets and where answers stand, as plain arrays. A batch
// is a pure function of (sources, stage, step, part): nothing depends on the order of calls, so
// that parts can be made by different processes, and a run goes on from a stage and a step. What is
// kept between calls is a cache: the streams of the step before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shellgame/episodes/source.h"

namespace shellgame {

// What a loss asks of a batch. The tokens of the values that are asked for are targets always.
struct AskedTargets {
  bool others = true;    // every other token is a target, too
  bool beliefs = false;  // the exact belief is the target of a value, not the value that came
  bool marks = false;    // LossTargets::values says which targets are tokens of values
  friend bool operator==(const AskedTargets&, const AskedTargets&) = default;
};

// Targets without loss have this value, as Torch's cross entropy expects it.
inline constexpr std::int64_t kIgnored = -100;

// Streams: the state at the end of a segment starts the next segment of the same stream, without a
// gradient through it. The segments of a stream grow from `from` to `to` over a share of the stage.
struct StreamSettings {
  double from = 2, to = 32, over = 0.7;
  // The most segments of a stream that begins at this step of a stage of `steps`.
  std::int64_t most_at(std::int64_t step, std::int64_t steps) const;
  // The most that any stream of it has.
  std::int64_t most() const;
};

// The batches of one stage.
struct BatchPlan {
  std::vector<std::shared_ptr<const Source>> sources = {};  // each episode draws one
  std::uint64_t seed = 0;                                   // of what is drawn beside the episodes
  std::uint64_t stage = 0;  // episodes of different stages are different ones
  std::int64_t rows = 1;    // B
  std::int64_t parts = 1;   // batches of a step, with rows of their own
  std::int64_t steps = 1;   // of the stage
  AskedTargets targets = {};
  std::optional<StreamSettings> stream = {};
  std::int64_t segment_tokens = 0;  // T of a stream
  // All rows of a stream begin anew at the same batch (for models whose state is not kept row by
  // row).
  bool together = false;

  // The largest stage, and the most episodes of one.
  static constexpr std::uint64_t kMostStages = 1 << 15, kMostEpisodes = std::uint64_t{1} << 48;
};

// A value that is asked for: the places b T + t that predict its tokens, one after the other. Of a
// value that a segment's end cuts in two, each segment has its own tokens, and the last one counts.
struct AnswerPlaces {
  std::int64_t place = 0;
  std::uint32_t length = 0;
  bool ends = true;  // the value's last token is here
  friend bool operator==(const AnswerPlaces&, const AnswerPlaces&) = default;
};

// A target that is a distribution: at a place that predicts a token of a value, the exact
// probability of each token that may come. Its hard target is kIgnored.
struct SoftTarget {
  std::int64_t place = 0;
  std::uint32_t truth = 0;             // the token that came
  std::uint32_t first = 0, count = 0;  // of Batch::soft_tokens and soft_weights
};

struct Batch {
  std::int64_t rows = 0, time = 0;
  std::vector<std::int64_t> ids = {}, targets = {};  // [B, T]; ids past a row's end are 0
  std::vector<AnswerPlaces> answers = {};            // by place
  std::int64_t tokens = 0;                           // without padding
  std::int64_t counted = 0;                          // targets, soft ones too
  std::vector<SoftTarget> soft = {};                 // by place
  std::vector<std::int64_t> soft_tokens = {};
  std::vector<float> soft_weights = {};  // of each target they sum to 1
  // Of a stream: which rows begin anew; the others go on where they were. Empty: all begin.
  std::vector<bool> fresh = {};
};

class Batcher {
 public:
  // Throws UsageError for a plan that cannot be numbered or has no source.
  explicit Batcher(BatchPlan plan);
  ~Batcher();
  const BatchPlan& plan() const { return plan_; }

  Batch batch(std::int64_t step, std::int64_t part = 0);
  // The same into a batch whose memory is used again.
  void batch(std::int64_t step, std::int64_t part, Batch& batch);

  // The episode that a row of a step reads, and of a stream where it is in it: for who asks what a
  // model has seen.
  struct Place {
    std::uint64_t index = 0;      // of the episode
    std::size_t source = 0;       // of plan().sources
    std::int64_t first_step = 0;  // of the stream's first segment
    std::int64_t segments = 1;    // of the stream
  };
  Place place(std::int64_t step, std::int64_t part, std::int64_t row) const;

 private:
  struct StreamRow;
  Place stream_at(std::uint64_t lane, std::uint64_t number, std::int64_t begin) const;
  void whole_episodes(std::int64_t step, std::int64_t part, Batch& batch);
  void segments(std::int64_t step, std::int64_t part, Batch& batch);
  std::size_t drawn_source(std::uint64_t index) const;

  BatchPlan plan_;
  std::vector<StreamRow> lanes_;    // of streams: parts x rows
  std::int64_t expected_time_ = 1;  // T of the batch before, of whole episodes
  // Scratch of one batch: its rows and their answers.
  std::vector<Piece> pieces_;
  struct RowAnswers {
    std::vector<AnswerPlaces> places;
    std::vector<SoftTarget> soft;
    std::vector<std::int64_t> tokens;
    std::vector<float> weights;
  };
  std::vector<RowAnswers> answers_;
};

}  // namespace shellgame
