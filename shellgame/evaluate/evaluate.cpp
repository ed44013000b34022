#include "shellgame/evaluate/evaluate.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "shellgame/evaluate/episode_buffer.h"
#include "shellgame/system/error.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/number.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

// Tokens of a row at once, and of all rows at once where there are few: smaller passes cost up to a
// fifth more a token.
constexpr std::size_t kSlice = 512, kTokens = 4096;

std::size_t slice_of(const EvaluationOptions& options, std::size_t rows) {
  return options.slice > 0 ? options.slice : std::max<std::size_t>(kSlice, kTokens / rows);
}

// What one pass over so many tokens holds at the least: the stream, and what a layer makes of it,
// half a dozen times as wide.
std::uint64_t pass_memory(const Model& model, std::uint64_t rows, std::uint64_t tokens) {
  const auto width = static_cast<std::uint64_t>(model.config().spec().width);
  const auto size = static_cast<std::uint64_t>(model.parameters().front().value.element_size());
  return saturating_multiply(rows, tokens, 8 * width * size);
}

// A place in the rows whose logits are needed.
struct Place {
  std::size_t row = 0, token = 0;
};

// The logits at some places, in double, with what every judgement needs of them.
struct Logits {
  at::Tensor values, log_sums, largest;  // [P, vocabulary], [P], [P]

  // What they say about the question's node, along the true value.
  Verdict judge(std::size_t place, const WaitingQuestion& waiting) const {
    return judge(place, waiting.question.values->node(waiting.node), waiting.true_branch(),
                 waiting.question.end_token, waiting.branch_belief());
  }
  Verdict judge(std::size_t place, const ValueTree::Node& node, std::uint32_t truth,
                std::uint32_t end, std::span<const double> belief = {}) const {
    const double* row =
        values.data_ptr<double>() + static_cast<std::int64_t>(place) * values.size(1);
    return shellgame::judge(row, log_sums.data_ptr<double>()[place],
                            largest.data_ptr<double>()[place], node, truth, end, belief);
  }
};

ModelState copy_of(const ModelState& state) {
  ModelState copy = state;
  for (LayerState& layer : copy.layers) {
    for (PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (auto& [name, tensor] : *part) {
        if (tensor.defined()) tensor = tensor.clone();
      }
    }
  }
  return copy;
}

// Some rows side by side, from their first token to their last.
class Batch {
 public:
  Batch(const Model& model, const EvaluationOptions& options, Evaluation& result,
        std::vector<EpisodeBuffer> rows)
      : model_(model),
        options_(options),
        result_(result),
        device_(model.parameters().front().value.device()),
        rows_(std::move(rows)),
        slice_(slice_of(options, rows_.size())) {}

  void run() {
    for (;;) {
      parallel_for(rows_.size(), [&](std::size_t r) { rows_[r].fill(slice_ + 1); });
      std::size_t length = 0, tokens = 0;
      for (const EpisodeBuffer& row : rows_) length = std::max(length, row.left());
      if (length == 0) return;
      length = std::min(length, slice_);
      if (options_.mode == EvaluationMode::kFree) length = up_to_a_choice(length);
      for (const EpisodeBuffer& row : rows_) tokens += std::min(length, row.left());
      options_.mode == EvaluationMode::kFree ? read_and_choose(length) : read(length);
      for (EpisodeBuffer& row : rows_) row.advance(length);
      result_.tokens += tokens;
      if (options_.progress) options_.progress(tokens);
    }
  }

 private:
  // The next `length` tokens of all rows, through the model.
  Logits pass(const at::Tensor& ids, const std::vector<Place>& places, ModelState& state) const {
    const std::int64_t length = ids.size(1);
    at::Tensor flat = at::empty({static_cast<std::int64_t>(places.size())}, at::kLong);
    for (std::size_t i = 0; i < places.size(); ++i) {
      flat.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(places[i].row) * length +
                                         static_cast<std::int64_t>(places[i].token);
    }
    Logits logits;
    const at::Tensor here = options_.taps == nullptr
                                ? model_.logits_at(ids.to(device_), flat.to(device_), &state)
                                : model_.logits(ids.to(device_), &state, options_.taps)
                                      .flatten(0, 1)
                                      .index_select(0, flat.to(device_));
    logits.values = here.to(at::kCPU).to(at::kDouble).contiguous();
    if (places.empty()) return logits;
    logits.log_sums = logits.values.logsumexp(-1).contiguous();
    logits.largest = logits.values.amax(-1).contiguous();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (std::isfinite(logits.log_sums.data_ptr<double>()[i])) continue;
      fail("the model's logits must be finite, but are not at trace {}, around token {}",
           rows_[places[i].row].index(),
           state.tokens - length + static_cast<std::int64_t>(places[i].token));
    }
    return logits;
  }

  at::Tensor next_ids(std::size_t length) const {
    at::Tensor ids = at::empty(
        {static_cast<std::int64_t>(rows_.size()), static_cast<std::int64_t>(length)}, at::kLong);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      rows_[r].copy(ids.data_ptr<std::int64_t>() + r * length, length);
    }
    return ids;
  }

  // Teacher-forced: all reveals of the slice at once.
  void read(std::size_t length) {
    std::vector<Place> places;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const auto from = rows_[r].next_place();
      if (!from) continue;
      // Places count from the first waiting one's, which is token `from` of the slice.
      const std::uint64_t base = rows_[r].waiting().front().place() - *from;
      for (const WaitingQuestion& waiting : rows_[r].waiting()) {
        const std::size_t depths = waiting.question.values->path(waiting.question.value).size();
        for (std::size_t depth = waiting.depth; depth < depths; ++depth) {
          const std::uint64_t token = waiting.question.after + depth - base;
          if (token < length) places.push_back({r, token});
        }
        if (waiting.question.after - base >= length && waiting.depth == 0) break;
      }
    }
    const Logits logits = pass(next_ids(length), places, state_);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EpisodeBuffer& row = rows_[places[i].row];
      WaitingQuestion& waiting = row.waiting().front();
      waiting.take_along_truth(logits.judge(i, waiting));
      if (waiting.at_true_end()) finish(row);
    }
  }

  // Free-running: not further than to the first place at which some row chooses.
  std::size_t up_to_a_choice(std::size_t length) const {
    for (const EpisodeBuffer& row : rows_) {
      if (const auto place = row.next_place()) length = std::min(length, *place + 1);
    }
    return length;
  }

  void read_and_choose(std::size_t length) {
    std::vector<Place> places;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].next_place() == length - 1) places.push_back({r, length - 1});
    }
    const Logits logits = pass(next_ids(length), places, state_);
    weigh_truth(places, logits);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EpisodeBuffer& row = rows_[places[i].row];
      WaitingQuestion& waiting = row.waiting().front();
      if (waiting.question.length == 0) {
        wrong_use("free-running needs rows in which the values stand: traces, not sequences");
      }
      const ValueTree& values = *waiting.question.values;
      const Verdict verdict =
          logits.judge(i, values.node(waiting.node), 0, waiting.question.end_token);
      waiting.node = values.node(waiting.node).next[verdict.best];
      ++waiting.depth;
      row.replace_first(values.node(waiting.node).value);
      if (!values.node(waiting.node).one_value) continue;
      waiting.chosen = values.node(waiting.node).value;
      waiting.right = *waiting.chosen == waiting.question.value;
      finish(row);
    }
  }

  // The cross entropy of the true value where a choice begins. A value of several tokens is read to
  // its end on a copy of what the model remembers.
  void weigh_truth(const std::vector<Place>& places, const Logits& logits) {
    std::vector<WaitingQuestion*> reveals;  // that began here
    std::vector<WaitingQuestion> truths;    // along the true value
    std::vector<Place> left;
    for (std::size_t i = 0; i < places.size(); ++i) {
      WaitingQuestion& waiting = rows_[places[i].row].waiting().front();
      if (waiting.depth > 0) continue;
      WaitingQuestion truth = waiting;
      truth.take_along_truth(logits.judge(i, truth));
      if (truth.at_true_end()) {
        take(waiting, truth);
      } else {
        reveals.push_back(&waiting);
        truths.push_back(std::move(truth));
        left.push_back({places[i].row, 0});
      }
    }
    if (truths.empty()) return;
    ModelState state = copy_of(state_);
    while (!truths.empty()) {
      at::Tensor ids = at::zeros({static_cast<std::int64_t>(rows_.size()), 1}, at::kLong);
      for (std::size_t i = 0; i < truths.size(); ++i) {
        const WaitingQuestion& truth = truths[i];
        ids.data_ptr<std::int64_t>()[left[i].row] =
            truth.question.values->tokens(truth.question.value)[truth.depth - 1];
      }
      const Logits next = pass(ids, left, state);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < truths.size(); ++i) {
        WaitingQuestion& truth = truths[i];
        truth.take_along_truth(next.judge(i, truth));
        if (truth.at_true_end()) {
          take(*reveals[i], truth);
          continue;
        }
        reveals[kept] = reveals[i];
        left[kept] = left[i];
        if (kept != i) truths[kept] = std::move(truth);
        ++kept;
      }
      reveals.resize(kept);
      truths.resize(kept);
      left.resize(kept);
    }
  }

  static void take(WaitingQuestion& waiting, const WaitingQuestion& truth) {
    waiting.nats = truth.nats;
    waiting.value_nats = truth.value_nats;
    waiting.strict = truth.strict;
    waiting.regret = truth.regret;
    waiting.inside = truth.inside;
  }

  // The first waiting reveal of the row has its answer.
  void finish(EpisodeBuffer& row) {
    const WaitingQuestion& done = row.waiting().front();
    result_.tally.add(row.index(), done.answer());
    if (row.index() < result_.shown.size()) {
      const Question& reveal = done.question;
      ShownReveal shown{.command = reveal.command,
                        .variable = reveal.variable,
                        .value = reveal.value,
                        .chosen = done.chosen,
                        .probability = std::exp(-done.value_nats)};
      if (!reveal.belief.empty()) {
        const auto best = std::ranges::max_element(reveal.belief);
        shown.bayes = static_cast<std::uint32_t>(best - reveal.belief.begin());
        shown.bayes_probability = *best;
      }
      result_.shown[row.index()].push_back(shown);
    }
    row.waiting().pop_front();
  }

  const Model& model_;
  const EvaluationOptions& options_;
  Evaluation& result_;
  at::Device device_;
  std::vector<EpisodeBuffer> rows_;
  std::size_t slice_;
  ModelState state_;
};

void check_vocabulary(const Model& model, const Source& source) {
  const std::int64_t vocabulary = model.config().spec().vocabulary;
  if (source.vocabulary_size() > static_cast<std::uint64_t>(vocabulary)) {
    wrong_use("the model must know the {} tokens of the task, but its vocabulary has {}",
              source.vocabulary_size(), vocabulary);
  }
}

std::string in_gib(std::int64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

std::int64_t growing_memory(const Model& model, std::uint64_t tokens) {
  if (model.constant_memory()) return 0;
  const at::NoGradGuard no_gradients;
  const auto device = model.parameters().front().value.device();
  const auto bytes_at = [&](std::int64_t count) {
    ModelState state;
    model.logits_at(at::zeros({1, count}, at::kLong).to(device),
                    at::empty({0}, at::kLong).to(device), &state);
    return state.bytes();
  };
  const std::int64_t token = (bytes_at(32) - bytes_at(16)) / 16;
  // Beside what is remembered, a layer makes copies of its keys and values, and attention holds the
  // scores of a block of 256 queries of all heads, masked and as softmax. The factors are from
  // measured peaks, which they pass by a fifth.
  std::int64_t heads = 0;
  for (const LayerSpec& layer : model.config().spec().layers) {
    if (layer.options.has("num_heads")) heads = std::max(heads, layer.options.size("num_heads"));
  }
  const auto width = static_cast<std::int64_t>(model.parameters().front().value.element_size());
  return saturating_multiply(static_cast<std::int64_t>(std::min(tokens, kMostSigned)),
                             4 * token + 5 * heads * 256 * width);
}

Evaluation evaluate(const Model& model, const Source& source, std::uint64_t first,
                    std::uint64_t count, const EvaluationOptions& options) {
  if (options.rows == 0) wrong_use("at least one row must go through the model");
  check_vocabulary(model, source);
  std::size_t side_by_side = options.rows;
  if (options.most_memory > 0) {
    const std::int64_t one = growing_memory(model, source.tokens());
    if (one > options.most_memory) {
      fail(
          "the memory limit must hold what the model remembers of a row of {} tokens: about {}, "
          "and "
          "the limit is {}; take shorter rows or a larger limit",
          source.tokens(), in_gib(one), in_gib(options.most_memory));
    }
    if (one > 0) {
      side_by_side = std::min(side_by_side, static_cast<std::size_t>(options.most_memory / one));
    }
  }
  const std::size_t together = std::min<std::uint64_t>(side_by_side, count);
  if (const std::size_t slice = slice_of(options, together); slice > kSlice)
    require_memory(pass_memory(model, together, std::min<std::uint64_t>(slice, source.tokens())),
                   fmt::format("{} rows with {} tokens at once", together, slice));
  require_memory(saturating_multiply<std::uint64_t>(count, sizeof(Tally::Trace)),
                 fmt::format("what is counted of {} rows", count));
  const at::NoGradGuard no_gradients;
  Evaluation result;
  result.tally = Tally(count);
  result.shown.resize(std::min<std::size_t>(options.show, count));
  for (std::uint64_t done = 0; done < count; done += side_by_side) {
    std::vector<EpisodeBuffer> batch;
    for (std::uint64_t i = done; i < std::min<std::uint64_t>(count, done + side_by_side); ++i) {
      batch.emplace_back(source.episode(first + i), i);
    }
    Batch(model, options, result, std::move(batch)).run();
  }
  return result;
}

}  // namespace shellgame
