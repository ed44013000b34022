#include "shellgame/train/batches.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>

#include "shellgame/random/philox.h"
#include "shellgame/system/error.h"
#include "shellgame/system/number.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

// What a row draws beside its trace: its variant and the length of its stream.
constexpr Lane kRowLane{4};
constexpr std::uint64_t kPieceCommands = 64;  // that a stream makes at once

void keep_shown_values(TokenTrace& trace) {
  std::erase_if(trace.reveals,
                [&](const RevealMark& mark) { return !shows_value(trace.trace.program, mark); });
}

// Inputs and targets of a batch, to be filled row by row.
struct Places {
  Places(std::int64_t rows, std::int64_t time, std::int64_t padding)
      : T(time),
        ids(at::full({rows, time}, padding, at::kLong)),
        targets(at::full({rows, time}, kIgnored, at::kLong)),
        id(ids.data_ptr<std::int64_t>()),
        target(targets.data_ptr<std::int64_t>()) {}

  // Row `row` reads tokens[0, T) and predicts tokens[1, T + 1), as far as there are any. A mark's
  // place counts from tokens[0]. Appends the answers' places.
  void fill(std::int64_t row, const std::uint32_t* tokens, std::size_t count, LossOn loss,
            const std::vector<RevealMark>& marks, std::vector<std::int64_t>& answers) {
    const auto reach = std::min<std::int64_t>(T, static_cast<std::int64_t>(count) - 1);
    for (std::int64_t t = 0; t < reach; ++t) {
      id[row * T + t] = tokens[t];
      if (loss == LossOn::kAllTokens) target[row * T + t] = tokens[t + 1];
    }
    for (const RevealMark& mark : marks) {
      for (std::uint64_t at = mark.offset; at < mark.offset + mark.length; ++at) {
        if (at == 0 || at > static_cast<std::uint64_t>(reach)) continue;
        const std::int64_t place = row * T + static_cast<std::int64_t>(at) - 1;
        target[place] = tokens[at];
        answers.push_back(place);
      }
    }
  }

  std::int64_t T;
  at::Tensor ids, targets;
  std::int64_t *id, *target;
};

TrainingBatch joined(Places& places, const std::vector<std::vector<std::int64_t>>& answers) {
  TrainingBatch batch{.ids = places.ids, .targets = places.targets};
  for (const auto& row : answers) batch.answers.insert(batch.answers.end(), row.begin(), row.end());
  return batch;
}

}  // namespace

struct BatchMaker::Variant {
  Variant(const Task& task, const Tokenizer& tokenizer)
      : sampler(task), maker(sampler, tokenizer) {}
  Sampler sampler;
  TokenMaker maker;
};

struct BatchMaker::Row {
  std::size_t variant = 0;
  std::uint64_t index = 0;
  std::int64_t segment = 0, segments = 0;  // of the stream; all done: a new one begins
  std::unique_ptr<TokenStream> stream;
  std::vector<std::uint32_t> ids;  // from the next segment's first token on
  std::vector<RevealMark> marks;

  // Makes sure that there are `count` tokens.
  void read(std::size_t count) {
    TokenTrace piece;
    while (ids.size() < count) {
      if (!stream->next(piece, kPieceCommands))
        fail("stream {} ended before its segments did: it has fewer tokens a command than others",
             index);
      keep_shown_values(piece);
      for (RevealMark mark : piece.reveals) {
        mark.offset += ids.size();
        marks.push_back(mark);
      }
      ids.insert(ids.end(), piece.ids.data(), piece.ids.data() + piece.ids.size());
    }
  }

  void drop(std::size_t count) {
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    std::erase_if(marks,
                  [&](const RevealMark& mark) { return mark.offset + mark.length <= count; });
    for (RevealMark& mark : marks) {
      // A value of several tokens may be cut in two: what is left of it begins here.
      const std::uint64_t gone = mark.offset < count ? count - mark.offset : 0;
      mark.length -= static_cast<std::uint32_t>(gone);
      mark.offset = mark.offset + gone - count;
    }
  }
};

BatchMaker::BatchMaker(const Experiment& experiment, const Tokenizer* tokenizer)
    : experiment_(experiment), tokenizer_(tokenizer) {}
BatchMaker::~BatchMaker() = default;

void BatchMaker::start_stage(std::size_t stage, bool together) {
  stage_ = &experiment_.stages.at(stage);
  together_ = together;
  variants_.clear();
  rows_.clear();
  segment_tokens_ = 0;
  if (stage_->sequence) {
    sequence_ = make_sequence_task(*stage_->sequence);
    return;
  }
  std::vector<double> command_tokens;  // of each task, on the whole
  for (Task task : stage_->tasks) {
    if (!stage_->stream) continue;
    // A segment is as long as the longest trace of so many commands, without its start.
    const auto commands = static_cast<double>(task.commands);
    const Variant one(task, *tokenizer_);
    task.commands *= 2;
    const Variant two(task, *tokenizer_);
    TokenTrace shorter, longer;
    one.maker.make(experiment_.seed, 0, shorter, false);
    two.maker.make(experiment_.seed, 0, longer, false);
    const auto tokens = static_cast<std::int64_t>(longer.ids.size() - shorter.ids.size());
    segment_tokens_ = std::max(segment_tokens_, tokens);
    command_tokens.push_back(static_cast<double>(tokens) / commands);
  }
  for (std::size_t i = 0; i < stage_->tasks.size(); ++i) {
    Task task = stage_->tasks[i];
    if (stage_->stream) {
      // Enough commands for the longest stream, and as many again: commands differ in length.
      const double segments = std::ceil(std::max(stage_->stream->from, stage_->stream->to)) + 1;
      task.commands = std::min(
          kMostCommands,
          saturating_cast<std::uint64_t>(
              std::ceil(2 * segments * static_cast<double>(segment_tokens_) / command_tokens[i])));
    }
    variants_.push_back(std::make_unique<Variant>(task, *tokenizer_));
  }
  if (stage_->stream)
    rows_ = std::vector<Row>(static_cast<std::size_t>(stage_->batch * stage_->accumulation));
}

TrainingBatch BatchMaker::next(std::int64_t stage_step, std::int64_t part) {
  if (sequence_) return next_sequences();
  return stage_->stream ? next_segments(stage_step, part) : next_traces();
}

std::size_t BatchMaker::drawn_variant(std::uint64_t index) const {
  if (variants_.size() == 1) return 0;
  return RandomStream(experiment_.seed, index, kRowLane)
      .below(static_cast<std::uint32_t>(variants_.size()));
}

TrainingBatch BatchMaker::next_traces() {
  const auto rows = static_cast<std::size_t>(stage_->batch);
  std::vector<TokenTrace> traces(rows);
  parallel_for(rows, [&](std::size_t row) {
    const std::uint64_t index = next_index_ + row;
    variants_[drawn_variant(index)]->maker.make(experiment_.seed, index, traces[row], true);
    keep_shown_values(traces[row]);
  });
  next_index_ += rows;
  std::size_t longest = 2, tokens = 0;
  for (const TokenTrace& trace : traces) {
    longest = std::max(longest, trace.ids.size());
    tokens += trace.ids.size();
  }
  Places places(stage_->batch, static_cast<std::int64_t>(longest) - 1, 0);
  std::vector<std::vector<std::int64_t>> answers(rows);
  parallel_for(rows, [&](std::size_t row) {
    places.fill(static_cast<std::int64_t>(row), traces[row].ids.data(), traces[row].ids.size(),
                experiment_.loss, traces[row].reveals, answers[row]);
  });
  TrainingBatch batch = joined(places, answers);
  batch.tokens = static_cast<std::int64_t>(tokens);
  return batch;
}

TrainingBatch BatchMaker::next_sequences() {
  const auto rows = static_cast<std::size_t>(stage_->batch);
  std::vector<Sequence> sequences(rows);
  parallel_for(rows, [&](std::size_t row) {
    sequences[row] = sequence_->sample(experiment_.seed, next_index_ + row);
  });
  next_index_ += rows;
  std::size_t longest = 1, tokens = 0;
  for (const Sequence& sequence : sequences) {
    longest = std::max(longest, sequence.input.size());
    tokens += sequence.input.size();
  }
  const auto T = static_cast<std::int64_t>(longest);
  Places places(stage_->batch, T, 0);
  TrainingBatch batch{.ids = places.ids, .targets = places.targets};
  for (std::size_t row = 0; row < rows; ++row) {
    const auto& [input, target] = sequences[row];
    const std::int64_t first = static_cast<std::int64_t>(row) * T;
    std::ranges::copy(input, places.id + first);
    const std::int64_t skipped = static_cast<std::int64_t>(input.size() - target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
      batch.answers.push_back(first + skipped + static_cast<std::int64_t>(i));
      places.target[batch.answers.back()] = target[i];
    }
  }
  batch.tokens = static_cast<std::int64_t>(tokens);
  return batch;
}

void BatchMaker::begin_stream(Row& row, std::int64_t segments) const {
  row.variant = drawn_variant(row.index);
  row.segment = 0;
  row.segments = segments;
  row.ids.clear();
  row.marks.clear();
  row.stream =
      std::make_unique<TokenStream>(variants_[row.variant]->maker, experiment_.seed, row.index);
}

TrainingBatch BatchMaker::next_segments(std::int64_t stage_step, std::int64_t part) {
  const StreamSettings& stream = *stage_->stream;
  const double progress =
      stream.over > 0 ? std::min(1.0, static_cast<double>(stage_step) /
                                          (stream.over * static_cast<double>(stage_->steps)))
                      : 1.0;
  const auto most =
      static_cast<std::int64_t>(std::lround(stream.from + (stream.to - stream.from) * progress));
  const auto rows = static_cast<std::size_t>(stage_->batch);
  const auto T = static_cast<std::size_t>(segment_tokens_);
  Row* const first = rows_.data() + static_cast<std::size_t>(part) * rows;
  std::vector<bool> fresh(rows);
  for (std::size_t b = 0; b < rows; ++b) {
    if (first[b].segment < first[b].segments) continue;
    fresh[b] = true;
    const bool at_start = first[b].segments == 0;
    first[b].index = next_index_++;
    // Rows are at different places of their streams: the first ones end one after the other, later
    // ones have between half of the longest length and all of it.
    std::int64_t segments = most;
    if (!together_ && at_start) {
      segments = 1 + static_cast<std::int64_t>(b) % most;
    } else if (!together_) {
      RandomStream numbers(experiment_.seed, first[b].index, kRowLane);
      numbers.next();
      segments -= numbers.below(static_cast<std::uint32_t>(most / 2 + 1));
    }
    begin_stream(first[b], segments);
  }
  Places places(stage_->batch, segment_tokens_, 0);
  std::vector<std::vector<std::int64_t>> answers(rows);
  parallel_for(rows, [&](std::size_t b) {
    Row& row = first[b];
    row.read(T + 1);
    places.fill(static_cast<std::int64_t>(b), row.ids.data(), T + 1, experiment_.loss, row.marks,
                answers[b]);
    row.drop(T);
    ++row.segment;
  });
  TrainingBatch batch = joined(places, answers);
  batch.tokens = static_cast<std::int64_t>(rows * T);
  batch.fresh = std::move(fresh);
  return batch;
}

nlohmann::json BatchMaker::cursor() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : rows_) rows.push_back({row.index, row.segment, row.segments});
  return {{"next_index", next_index_}, {"rows", rows}};
}

void BatchMaker::check_cursor(const nlohmann::json& cursor) const {
  const auto whole = [](const nlohmann::json& number) { return number.is_number_unsigned(); };
  const auto wrong = [](const char* what) { fail("a checkpoint's cursor must {}", what); };
  if (!cursor.is_object() || !cursor.contains("next_index") || !whole(cursor["next_index"]) ||
      !cursor.contains("rows") || !cursor["rows"].is_array())
    wrong("have a whole number 'next_index' and a list 'rows'");
  const auto next = cursor["next_index"].get<std::uint64_t>();
  const auto& rows = cursor["rows"];
  if (rows.size() != rows_.size())
    fail("a checkpoint of this stage must have {} rows of streams, and it has {}", rows_.size(),
         rows.size());
  for (const auto& row : rows) {
    if (!row.is_array() || row.size() != 3 || !std::ranges::all_of(row, whole))
      wrong("have three whole numbers a row");
    const auto index = row[0].get<std::uint64_t>(), segment = row[1].get<std::uint64_t>(),
               segments = row[2].get<std::uint64_t>();
    const double most = std::ceil(std::max(stage_->stream->from, stage_->stream->to)) + 1;
    if (segment > segments || static_cast<double>(segments) > most)
      fail("a row of a checkpoint's cursor must be at one of at most {} segments, not at {} of {}",
           most, segment, segments);
    if (segments > 0 && index >= next) wrong("have rows from before its 'next_index'");
  }
}

void BatchMaker::restore(const nlohmann::json& cursor) {
  check_cursor(cursor);
  next_index_ = cursor["next_index"].get<std::uint64_t>();
  const auto& rows = cursor["rows"];
  parallel_for(rows_.size(), [&](std::size_t i) {
    Row& row = rows_[i];
    row.index = rows[i][0].get<std::uint64_t>();
    const auto segment = rows[i][1].get<std::int64_t>();
    const auto segments = rows[i][2].get<std::int64_t>();
    if (segments == 0) return;
    begin_stream(row, segments);
    for (; row.segment < segment; ++row.segment) {
      row.read(static_cast<std::size_t>(segment_tokens_) + 1);
      row.drop(static_cast<std::size_t>(segment_tokens_));
    }
  });
}

}  // namespace shellgame
