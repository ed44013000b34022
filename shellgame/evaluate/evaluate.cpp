#include "shellgame/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "shellgame/evaluate/episode_buffer.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/text/number.h"

namespace shellgame {
namespace {

// Tokens of a row at once, and of all rows at once where there are few: smaller passes cost up to a
// fifth more a token.
constexpr std::size_t kSlice = 512, kTokens = 4096;

std::size_t slice_of(const EvaluationOptions& options, std::size_t rows) {
  return options.slice > 0 ? options.slice : std::max<std::size_t>(kSlice, kTokens / rows);
}

// The logits at some places, with what every judgement needs of them.
struct Logits {
  std::size_t vocabulary = 0;
  std::vector<double> values, log_sums, largest;  // [P, vocabulary], [P], [P]

  // The log of the sum of exponentials and the largest number of each place; false, with the place,
  // where one is not finite.
  bool sum_up(std::size_t places, std::size_t& wrong) {
    log_sums.resize(places);
    largest.resize(places);
    constexpr std::size_t kShare = 1 << 14;  // numbers of a thread at once
    const std::size_t each =
        std::max<std::size_t>(1, kShare / std::max<std::size_t>(1, vocabulary));
    parallel_for((places + each - 1) / each, [&](std::size_t group) {
      for (std::size_t p = group * each; p < std::min(places, (group + 1) * each); ++p) {
        const double* row = values.data() + p * vocabulary;
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::size_t i = 0; i < vocabulary; ++i) most = row[i] > most ? row[i] : most;
        for (std::size_t i = 0; i < vocabulary; ++i) sum += std::exp(row[i] - most);
        largest[p] = most;
        log_sums[p] = most + std::log(sum);  // NaN if a logit is, or all are -infinity
      }
    });
    for (wrong = 0; wrong < places; ++wrong) {
      if (!std::isfinite(log_sums[wrong])) return false;
    }
    return true;
  }

  // What they say about the question's node, along the true value.
  Judgement judge(std::size_t place, const WaitingQuestion& waiting) const {
    return judge(place, waiting.question.values->node(waiting.node), waiting.true_branch(),
                 waiting.question.end_token, waiting.branch_belief());
  }
  Judgement judge(std::size_t place, const ValueTree::Node& node, std::uint32_t truth,
                  std::uint32_t end, std::span<const double> belief = {}) const {
    return shellgame::judge(values.data() + place * vocabulary, log_sums[place], largest[place],
                            node, truth, end, belief);
  }
};

// Some rows side by side, from their next token to their last.
class Batch {
 public:
  Batch(const Predictor& predictor, const EvaluationOptions& options, Evaluation& result,
        std::vector<EpisodeBuffer> rows, std::unique_ptr<Reading> reading = nullptr,
        std::uint64_t read = 0)
      : vocabulary_(predictor.vocabulary_size()),
        options_(options),
        result_(result),
        rows_(std::move(rows)),
        slice_(slice_of(options, rows_.size())),
        reading_(reading ? std::move(reading) : predictor.begin(rows_.size())),
        read_(read) {}

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
      read_ += length;
      result_.tokens += tokens;
      if (options_.progress) options_.progress(tokens);
    }
  }

 private:
  // The next tokens of all rows, through the predictor.
  Logits pass(const std::vector<std::int64_t>& ids, const std::vector<TokenPlace>& places,
              Reading& reading) const {
    Logits logits;
    logits.vocabulary = vocabulary_;
    reading.read(ids, places, logits.values);
    std::size_t wrong = 0;
    if (!logits.sum_up(places.size(), wrong))
      fail("the model's logits must be finite, but are not at trace {}, around token {}",
           rows_[places[wrong].row].index(), read_ + places[wrong].token);
    return logits;
  }

  std::vector<std::int64_t> next_ids(std::size_t length) const {
    std::vector<std::int64_t> ids(rows_.size() * length);
    for (std::size_t r = 0; r < rows_.size(); ++r) rows_[r].copy(ids.data() + r * length, length);
    return ids;
  }

  // Teacher-forced: all reveals of the slice at once.
  void read(std::size_t length) {
    std::vector<TokenPlace> places;
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
    const Logits logits = pass(next_ids(length), places, *reading_);
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
    std::vector<TokenPlace> places;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].next_place() == length - 1) places.push_back({r, length - 1});
    }
    const Logits logits = pass(next_ids(length), places, *reading_);
    weigh_truth(places, logits);
    for (std::size_t i = 0; i < places.size(); ++i) {
      EpisodeBuffer& row = rows_[places[i].row];
      WaitingQuestion& waiting = row.waiting().front();
      if (waiting.question.length == 0) {
        wrong_use("free-running needs rows in which the values stand: traces, not sequences");
      }
      const ValueTree& values = *waiting.question.values;
      const Judgement judgement =
          logits.judge(i, values.node(waiting.node), 0, waiting.question.end_token);
      waiting.node = values.node(waiting.node).next[judgement.best];
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
  void weigh_truth(const std::vector<TokenPlace>& places, const Logits& logits) {
    std::vector<WaitingQuestion*> reveals;  // that began here
    std::vector<WaitingQuestion> truths;    // along the true value
    std::vector<TokenPlace> left;
    for (std::size_t i = 0; i < places.size(); ++i) {
      WaitingQuestion& waiting = rows_[places[i].row].waiting().front();
      if (waiting.depth > 0) continue;
      WaitingQuestion truth = waiting;
      truth.take_along_truth(logits.judge(i, truth));
      if (truth.at_true_end()) {
        waiting.numbers = truth.numbers;
      } else {
        reveals.push_back(&waiting);
        truths.push_back(std::move(truth));
        left.push_back({places[i].row, 0});
      }
    }
    if (truths.empty()) return;
    const auto reading = reading_->copy();
    while (!truths.empty()) {
      std::vector<std::int64_t> ids(rows_.size());
      for (std::size_t i = 0; i < truths.size(); ++i) {
        const WaitingQuestion& truth = truths[i];
        ids[left[i].row] = truth.question.values->tokens(truth.question.value)[truth.depth - 1];
      }
      const Logits next = pass(ids, left, *reading);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < truths.size(); ++i) {
        WaitingQuestion& truth = truths[i];
        truth.take_along_truth(next.judge(i, truth));
        if (truth.at_true_end()) {
          reveals[i]->numbers = truth.numbers;
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
                        .probability = std::exp(-done.numbers.value_cross_entropy)};
      if (!reveal.belief.empty()) {
        const auto best = std::ranges::max_element(reveal.belief);
        shown.bayes = static_cast<std::uint32_t>(best - reveal.belief.begin());
        shown.bayes_probability = *best;
      }
      result_.shown[row.index()].push_back(shown);
    }
    row.waiting().pop_front();
  }

  std::size_t vocabulary_;
  const EvaluationOptions& options_;
  Evaluation& result_;
  std::vector<EpisodeBuffer> rows_;
  std::size_t slice_;
  std::unique_ptr<Reading> reading_;
  std::uint64_t read_;  // tokens of each row
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_vocabulary(const Predictor& predictor, const Source& source) {
  if (source.vocabulary_size() > predictor.vocabulary_size()) {
    wrong_use("the model must know the {} tokens of the task, but its vocabulary has {}",
              source.vocabulary_size(), predictor.vocabulary_size());
  }
}

std::string in_gib(std::int64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

// How many rows may go side by side, of so many tokens each. `readings` of a row are held at once.
std::size_t rows_at_once(const Predictor& predictor, std::uint64_t tokens, std::uint64_t count,
                         std::int64_t readings, const EvaluationOptions& options) {
  if (options.rows == 0) wrong_use("at least one row must go through the model");
  std::size_t side_by_side = options.rows;
  if (options.most_memory > 0) {
    const std::int64_t one =
        saturating_multiply<std::int64_t>(readings, predictor.growing_memory(tokens));
    if (one > options.most_memory) {
      fail(
          "the memory limit must hold what the model remembers of a row of {} tokens: about {}, "
          "and the limit is {}; take shorter rows or a larger limit",
          tokens, in_gib(one), in_gib(options.most_memory));
    }
    if (one > 0) {
      side_by_side = std::min(side_by_side, static_cast<std::size_t>(options.most_memory / one));
    }
  }
  const std::size_t together = std::min<std::uint64_t>(side_by_side, count);
  if (const std::size_t slice = slice_of(options, together); slice > kSlice)
    require_memory(predictor.pass_memory(together, std::min<std::uint64_t>(slice, tokens)),
                   fmt::format("{} rows with {} tokens at once", together, slice));
  return side_by_side;
}

Evaluation empty_evaluation(std::uint64_t count, const EvaluationOptions& options) {
  require_memory(saturating_multiply<std::uint64_t>(count, sizeof(Tally::Trace)),
                 fmt::format("what is counted of {} rows", count));
  Evaluation result;
  result.tally = Tally(count);
  result.shown.resize(std::min<std::size_t>(options.show, count));
  return result;
}

// A row that is there already.
class MadeEpisode final : public Episode {
 public:
  explicit MadeEpisode(Piece piece) : piece_(std::move(piece)) {}
  bool next(Piece& piece, std::size_t /*tokens*/) override {
    if (given_) return false;
    given_ = true;
    piece = std::move(piece_);
    return true;
  }

 private:
  Piece piece_;
  bool given_ = false;
};

// Some rows of several sources: `trunk` has the longest ones, and each source leaves it at `parts`.
struct Forks {
  std::vector<std::vector<Piece>> pieces;         // by source and row
  std::vector<std::vector<std::uint32_t>> trunk;  // by row
  std::vector<std::size_t> parts, order;          // by source; sources by where they part

  Forks(const std::vector<const Source*>& sources, std::uint64_t first, std::size_t rows)
      : pieces(sources.size(), std::vector<Piece>(rows)),
        parts(sources.size()),
        order(sources.size()) {
    parallel_for(sources.size() * rows, [&](std::size_t i) {
      sources[i / rows]->whole(first + i % rows, pieces[i / rows][i % rows]);
    });
    const auto longest = std::ranges::max_element(
        pieces, {}, [](const std::vector<Piece>& own) { return own.front().ids.size(); });
    for (const Piece& piece : *longest) trunk.push_back(piece.ids);
    for (std::size_t s = 0; s < sources.size(); ++s) parts[s] = part_of(pieces[s]);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return parts[s]; });
  }

  // So many tokens are the trunk's in every row, and before every row's first question.
  std::size_t part_of(const std::vector<Piece>& rows) const {
    std::size_t part = SIZE_MAX;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto& ids = rows[r].ids;
      const auto same =
          static_cast<std::size_t>(std::ranges::mismatch(ids, trunk[r]).in1 - ids.begin());
      part = std::min(part, same);
      if (!rows[r].questions.empty())
        part = std::min<std::size_t>(part, rows[r].questions.front().after);
    }
    return part;
  }
};

// Reads rows of `forks` and adds what is judged to `results`; `index` is that of the first row.
void read_forks(const Predictor& predictor, Forks forks, std::uint64_t index,
                const EvaluationOptions& options, std::vector<Evaluation>& results) {
  const std::size_t rows = forks.trunk.size(), slice = slice_of(options, rows);
  const auto reading = predictor.begin(rows);
  std::vector<double> none;
  std::size_t read = 0;
  for (const std::size_t s : forks.order) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = read, part = forks.parts[s];
    while (read < part) {
      const std::size_t length = std::min(slice, part - read);
      std::vector<std::int64_t> ids(rows * length);
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(forks.trunk[r].begin() + static_cast<std::ptrdiff_t>(read), length,
                    ids.begin() + static_cast<std::ptrdiff_t>(r * length));
      reading->read(ids, {}, none);
      read += length;
    }
    std::vector<EpisodeBuffer> buffers;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t tokens = forks.pieces[s][r].ids.size();
      buffers.emplace_back(std::make_unique<MadeEpisode>(std::move(forks.pieces[s][r])), index + r);
      buffers.back().fill(tokens + 1);
      buffers.back().advance(part);
    }
    results[s].tokens += rows * (read - before);
    if (options.progress) options.progress(rows * part);
    Batch(predictor, options, results[s], std::move(buffers), reading->copy(), part).run();
    results[s].seconds += seconds_since(start);
  }
}

}  // namespace

Evaluation evaluate(const Predictor& predictor, const Source& source, std::uint64_t first,
                    std::uint64_t count, const EvaluationOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_vocabulary(predictor, source);
  const std::size_t side_by_side = rows_at_once(predictor, source.tokens(), count, 1, options);
  Evaluation result = empty_evaluation(count, options);
  for (std::uint64_t done = 0; done < count; done += side_by_side) {
    std::vector<EpisodeBuffer> batch;
    for (std::uint64_t i = done; i < std::min<std::uint64_t>(count, done + side_by_side); ++i) {
      batch.emplace_back(source.episode(first + i), i);
    }
    Batch(predictor, options, result, std::move(batch)).run();
  }
  result.seconds = seconds_since(start);
  return result;
}

namespace {

std::vector<Evaluation> evaluate_each(const Predictor& predictor,
                                      const std::vector<const Source*>& sources,
                                      std::uint64_t first, std::uint64_t count,
                                      const EvaluationOptions& options) {
  std::vector<Evaluation> results;
  for (const Source* source : sources)
    results.push_back(evaluate(predictor, *source, first, count, options));
  return results;
}

}  // namespace

std::vector<Evaluation> evaluate_together(const Predictor& predictor,
                                          const std::vector<const Source*>& sources,
                                          std::uint64_t first, std::uint64_t count,
                                          const EvaluationOptions& options) {
  if (sources.size() < 2 || count == 0 || !predictor.may_be_copied() ||
      options.mode != EvaluationMode::kTeacher)
    return evaluate_each(predictor, sources, first, count, options);
  std::vector<Evaluation> results;
  std::uint64_t longest = 0;
  for (const Source* source : sources) {
    check_vocabulary(predictor, *source);
    longest = std::max(longest, source->tokens());
    results.push_back(empty_evaluation(count, options));
  }
  // A row and its copy are remembered at once. Where that is too much, each source is read alone.
  if (options.most_memory > 0 &&
      saturating_multiply<std::int64_t>(2, predictor.growing_memory(longest)) > options.most_memory)
    return evaluate_each(predictor, sources, first, count, options);
  const std::size_t side_by_side = rows_at_once(predictor, longest, count, 2, options);
  for (std::uint64_t done = 0; done < count; done += side_by_side) {
    const std::size_t rows = std::min<std::uint64_t>(side_by_side, count - done);
    const auto start = std::chrono::steady_clock::now();
    Forks forks(sources, first + done, rows);
    const double each = seconds_since(start) / static_cast<double>(sources.size());
    for (Evaluation& result : results) result.seconds += each;
    read_forks(predictor, std::move(forks), done, options, results);
  }
  return results;
}

}  // namespace shellgame
