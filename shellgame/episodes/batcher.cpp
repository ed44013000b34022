#include "shellgame/episodes/batcher.h"

#include <algorithm>
#include <cmath>

#include "shellgame/random/philox.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// What a row draws beside its episode: its source and the length of its stream.
constexpr Lane kRowLane{4};

// The tokens of a value that are trained: also the one that ends it, where other values begin with
// it ("1" and "17"), since a model's answer is asked for it.
std::uint64_t asked_tokens(const Question& question) {
  return question.values->path(question.value).size();
}

// Inputs, targets and answers of one row, every place of which is written. The tokens begin at its
// first place.
template <class Answers>  // Batcher::RowAnswers
class RowFiller {
 public:
  RowFiller(Batch& batch, std::size_t row, const AskedTargets& asked, const std::uint32_t* tokens,
            std::size_t count, Answers& answers)
      : T_(batch.time),
        first_(static_cast<std::int64_t>(row) * batch.time),
        count_(static_cast<std::int64_t>(count)),
        tokens_(tokens),
        target_(batch.targets.data() + first_),
        beliefs_(asked.beliefs),
        answers_(answers) {
    std::int64_t* const id = batch.ids.data() + first_;
    const std::int64_t inputs = std::min(T_, count_);
    std::copy_n(tokens, inputs, id);
    std::fill(id + inputs, id + T_, 0);
    const std::int64_t targets =
        asked.others ? std::max<std::int64_t>(0, std::min(T_, count_ - 1)) : 0;
    if (targets > 0) std::copy_n(tokens + 1, targets, target_);
    std::fill(target_ + targets, target_ + T_, kIgnored);
    answers.places.clear();
    answers.soft.clear();
    answers.tokens.clear();
    answers.weights.clear();
  }

  // `after` counts from the row's first place, `from` tokens of the value lie before it.
  void ask(const Question& question, std::int64_t after, std::uint64_t from) {
    if (question.length == 0) {  // the answer does not stand in the row
      if (after >= T_) return;
      target_[after] = question.values->tokens(question.value).front();
      answers_.places.push_back({first_ + after, 1, true});
      if (beliefs_ && !question.belief.empty()) soften(question, after, 0);
      return;
    }
    const auto all = static_cast<std::int64_t>(asked_tokens(question));
    const std::int64_t begin = after + static_cast<std::int64_t>(from);
    const std::int64_t end = std::min({after + all, T_, count_ - 1});
    for (std::int64_t t = begin; t < end; ++t) {
      target_[t] = tokens_[t + 1];
      if (beliefs_ && !question.belief.empty())
        soften(question, t, static_cast<std::size_t>(t - after));
    }
    if (end > begin)
      answers_.places.push_back(
          {first_ + begin, static_cast<std::uint32_t>(end - begin), end == after + all});
  }

 private:
  // The belief in place of the token that came.
  void soften(const Question& question, std::int64_t t, std::size_t depth) {
    const ValueTree& values = *question.values;
    std::uint32_t node = ValueTree::kRoot;
    for (std::size_t d = 0; d < depth; ++d)
      node = values.node(node).next[values.path(question.value)[d]];
    const std::vector<double> belief = branch_belief(question, depth);
    SoftTarget soft{.place = first_ + t,
                    .truth = static_cast<std::uint32_t>(target_[t]),
                    .first = static_cast<std::uint32_t>(answers_.tokens.size())};
    for (std::size_t k = 0; k < belief.size(); ++k) {
      if (belief[k] == 0) continue;
      const std::uint32_t token = values.node(node).tokens[k];
      answers_.tokens.push_back(token == ValueTree::kEnd ? question.end_token : token);
      answers_.weights.push_back(static_cast<float>(belief[k]));
      ++soft.count;
    }
    answers_.soft.push_back(soft);
    target_[t] = kIgnored;
  }

  std::int64_t T_, first_, count_;
  const std::uint32_t* tokens_;
  std::int64_t* target_;
  bool beliefs_;
  Answers& answers_;
};

// The places that a row needs: the last token of a row of text is only a target, and an answer that
// does not stand in its row needs the place after every token.
std::int64_t time_of(const Piece& piece) {
  const auto tokens = static_cast<std::int64_t>(piece.ids.size());
  const bool apart =
      !piece.questions.empty() && piece.questions.back().after + 1 == piece.ids.size();
  return apart || tokens == 0 ? tokens : tokens - 1;
}

std::int64_t counted_of(const AskedTargets& asked, std::size_t tokens,
                        const std::vector<AnswerPlaces>& answers) {
  if (asked.others) return tokens > 0 ? static_cast<std::int64_t>(tokens) - 1 : 0;
  std::int64_t sum = 0;
  for (const AnswerPlaces& answer : answers) sum += answer.length;
  return sum;
}

void resize(Batch& batch, std::int64_t rows, std::int64_t time) {
  batch.rows = rows;
  batch.time = time;
  batch.ids.resize(static_cast<std::size_t>(rows * time));
  batch.targets.resize(static_cast<std::size_t>(rows * time));
  batch.answers.clear();
  batch.tokens = batch.counted = 0;
  batch.fresh.clear();
  batch.soft.clear();
  batch.soft_tokens.clear();
  batch.soft_weights.clear();
}

}  // namespace

std::int64_t StreamSettings::most_at(std::int64_t step, std::int64_t steps) const {
  const double progress =
      over > 0 ? std::min(1.0, static_cast<double>(step) / (over * static_cast<double>(steps)))
               : 1.0;
  return std::max<std::int64_t>(1, std::lround(from + (to - from) * progress));
}

std::int64_t StreamSettings::most() const {
  return static_cast<std::int64_t>(std::ceil(std::max(from, to))) + 1;
}

// A row of a stream: the stream that it reads, and the tokens of it that come next.
struct Batcher::StreamRow {
  std::int64_t next_step = -1;  // the step whose tokens come next; -1: none yet
  std::uint64_t number = 0;     // of the stream among the lane's
  Place place;
  std::unique_ptr<Episode> episode;
  Piece piece;
  std::vector<std::uint32_t> ids;  // from the next segment's first token on
  struct Asked {
    Question question;
    std::int64_t after = 0;  // counted from ids[0]; before it where the value is cut
    std::uint64_t from = 0;  // tokens of the value that lie before ids[0]
  };
  std::vector<Asked> questions;

  void begin(std::unique_ptr<Episode> fresh) {
    episode = std::move(fresh);
    ids.clear();
    questions.clear();
  }

  // Makes sure that there are `count` tokens.
  void read(std::size_t count) {
    while (ids.size() < count) {
      if (!episode->next(piece, count - ids.size()))
        fail("stream {} ended before its segments did: it has fewer tokens a command than others",
             place.index);
      for (Question& question : piece.questions) {
        const auto after = static_cast<std::int64_t>(ids.size() + question.after);
        questions.push_back({std::move(question), after, 0});
      }
      ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
    }
  }

  void drop(std::size_t count) {
    ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
    const auto gone = static_cast<std::int64_t>(count);
    std::erase_if(questions, [&](const Asked& asked) {
      return asked.after + static_cast<std::int64_t>(asked_tokens(asked.question)) <= gone;
    });
    for (Asked& asked : questions) {
      asked.after -= gone;
      if (asked.after < 0) asked.from = static_cast<std::uint64_t>(-asked.after);
    }
  }
};

Batcher::Batcher(BatchPlan plan) : plan_(std::move(plan)) {
  if (plan_.sources.empty()) wrong_use("a batch must have a source");
  const auto rows = saturating_multiply(static_cast<std::uint64_t>(plan_.rows),
                                        static_cast<std::uint64_t>(plan_.parts));
  if (plan_.stage >= BatchPlan::kMostStages ||
      saturating_multiply(rows, static_cast<std::uint64_t>(plan_.steps)) > BatchPlan::kMostEpisodes)
    wrong_use("a run must have at most {} stages of {} rows in all their steps, not {} rows",
              BatchPlan::kMostStages, BatchPlan::kMostEpisodes,
              saturating_multiply(rows, static_cast<std::uint64_t>(plan_.steps)));
  if (plan_.stream) lanes_.resize(rows);
  pieces_.resize(static_cast<std::size_t>(plan_.rows));
  answers_.resize(static_cast<std::size_t>(plan_.rows));
}

Batcher::~Batcher() = default;

std::size_t Batcher::drawn_source(std::uint64_t index) const {
  if (plan_.sources.size() == 1) return 0;
  return RandomStream(plan_.seed, index, kRowLane)
      .below(static_cast<std::uint32_t>(plan_.sources.size()));
}

// Stream `number` of a lane, which begins at the step `begin`. Rows are at different places of
// their streams: the first ones end one after the other, later ones have between half of the
// longest length and all of it.
Batcher::Place Batcher::stream_at(std::uint64_t lane, std::uint64_t number,
                                  std::int64_t begin) const {
  Place place{.index = (plan_.stage << 48) + number * lanes_.size() + lane, .first_step = begin};
  place.source = drawn_source(place.index);
  const std::int64_t most = plan_.stream->most_at(begin, plan_.steps);
  place.segments = most;
  if (plan_.together) return place;
  if (number == 0) {
    const auto row = static_cast<std::int64_t>(lane) % plan_.rows;
    place.segments = 1 + row % most;
  } else {
    RandomStream numbers(plan_.seed, place.index, kRowLane);
    numbers.next();  // the source's
    place.segments -= numbers.below(static_cast<std::uint32_t>(most / 2 + 1));
  }
  return place;
}

Batcher::Place Batcher::place(std::int64_t step, std::int64_t part, std::int64_t row) const {
  if (!plan_.stream) {
    const std::int64_t number = (step * plan_.parts + part) * plan_.rows + row;
    Place place{.index = (plan_.stage << 48) + static_cast<std::uint64_t>(number),
                .first_step = step};
    place.source = drawn_source(place.index);
    return place;
  }
  const auto lane = static_cast<std::uint64_t>(part * plan_.rows + row);
  Place place = stream_at(lane, 0, 0);
  for (std::uint64_t number = 1; place.first_step + place.segments <= step; ++number)
    place = stream_at(lane, number, place.first_step + place.segments);
  return place;
}

Batch Batcher::batch(std::int64_t step, std::int64_t part) {
  Batch one;
  batch(step, part, one);
  return one;
}

void Batcher::batch(std::int64_t step, std::int64_t part, Batch& batch) {
  if (step < 0 || part < 0 || part >= plan_.parts)
    wrong_use("a batch must be of a step from 0 and of a part below {}, not of step {}, part {}",
              plan_.parts, step, part);
  plan_.stream ? segments(step, part, batch) : whole_episodes(step, part, batch);
  for (const RowAnswers& row : answers_) {
    batch.answers.insert(batch.answers.end(), row.places.begin(), row.places.end());
    for (SoftTarget soft : row.soft) {
      soft.first += static_cast<std::uint32_t>(batch.soft_tokens.size());
      batch.soft.push_back(soft);
    }
    batch.soft_tokens.insert(batch.soft_tokens.end(), row.tokens.begin(), row.tokens.end());
    batch.soft_weights.insert(batch.soft_weights.end(), row.weights.begin(), row.weights.end());
  }
}

void Batcher::whole_episodes(std::int64_t step, std::int64_t part, Batch& batch) {
  const auto rows = static_cast<std::size_t>(plan_.rows);
  std::vector<std::int64_t> counted(rows);
  const auto fill = [&](std::size_t row) {
    const Piece& piece = pieces_[row];
    // Where answers stand beside the row, no token predicts the next.
    const bool apart = !piece.questions.empty() && piece.questions.front().length == 0;
    AskedTargets asked = plan_.targets;
    if (apart) asked.others = false;
    RowFiller filler(batch, row, asked, piece.ids.data(), piece.ids.size(), answers_[row]);
    for (const Question& question : piece.questions)
      filler.ask(question, static_cast<std::int64_t>(question.after), 0);
    counted[row] = counted_of(asked, piece.ids.size(), answers_[row].places);
  };
  // Rows are filled as soon as they are made, into as much time as the batch before this one had:
  // where that was the wrong guess, all are filled again.
  resize(batch, plan_.rows, expected_time_);
  parallel_for(rows, [&](std::size_t row) {
    const Place at = place(step, part, static_cast<std::int64_t>(row));
    plan_.sources[at.source]->whole(at.index, pieces_[row]);
    if (time_of(pieces_[row]) <= expected_time_) fill(row);
  });
  std::int64_t time = 1;
  for (const Piece& piece : pieces_) time = std::max(time, time_of(piece));
  if (time != expected_time_) {
    expected_time_ = time;
    resize(batch, plan_.rows, time);
    parallel_for(rows, fill);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    batch.counted += counted[row];
    batch.tokens += static_cast<std::int64_t>(pieces_[row].ids.size());
  }
}

void Batcher::segments(std::int64_t step, std::int64_t part, Batch& batch) {
  const auto rows = static_cast<std::size_t>(plan_.rows);
  const auto T = static_cast<std::size_t>(plan_.segment_tokens);
  resize(batch, plan_.rows, plan_.segment_tokens);
  std::vector<std::uint8_t> fresh(rows);  // threads may not share the words of a vector<bool>
  parallel_for(rows, [&](std::size_t row) {
    const std::uint64_t number = static_cast<std::uint64_t>(part) * rows + row;
    StreamRow& lane = lanes_[number];
    if (lane.next_step == step && lane.place.first_step + lane.place.segments == step) {
      ++lane.number;
      lane.place = stream_at(number, lane.number, step);
      lane.begin(plan_.sources[lane.place.source]->episode(lane.place.index));
    } else if (lane.next_step != step) {
      // Not what the cache expects: the stream of that step, read up to there.
      lane.number = 0;
      lane.place = stream_at(number, 0, 0);
      while (lane.place.first_step + lane.place.segments <= step)
        lane.place = stream_at(number, ++lane.number, lane.place.first_step + lane.place.segments);
      lane.begin(plan_.sources[lane.place.source]->episode(lane.place.index));
      for (std::int64_t before = lane.place.first_step; before < step; ++before) {
        lane.read(T + 1);
        lane.drop(T);
      }
    }
    fresh[row] = lane.place.first_step == step;
    lane.read(T + 1);
    RowFiller filler(batch, row, plan_.targets, lane.ids.data(), T + 1, answers_[row]);
    for (const StreamRow::Asked& asked : lane.questions)
      if (asked.after < static_cast<std::int64_t>(T))
        filler.ask(asked.question, asked.after, asked.from);
    lane.drop(T);
    lane.next_step = step + 1;
  });
  for (const RowAnswers& row : answers_)
    batch.counted += counted_of(plan_.targets, T + 1, row.places);
  batch.fresh.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) batch.fresh[row] = fresh[row] != 0;
  batch.tokens = static_cast<std::int64_t>(rows * T);
}

}  // namespace shellgame
