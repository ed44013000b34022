#include "shellgame/evaluate/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/beliefs/predictions.h"
#include "shellgame/system/error.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tokens/token_stream.h"

namespace shellgame {
namespace {

// So many commands are some thousand tokens: a few slices of a model.
constexpr std::uint64_t kPieceCommands = 64;

Task without_stages(Task task) {
  task.stages.clear();
  return task;
}

}  // namespace

class TraceRows::TraceRow final : public Row {
 public:
  TraceRow(const TraceRows& rows, std::uint64_t index)
      : rows_(rows), index_(index), stream_(rows.maker_, rows.seed_, index) {}

  bool next(RowPiece& piece) override {
    if (rows_.beliefs_ && rows_.sampler_.task().uncertain()) return whole(piece);
    if (!stream_.next(trace_, kPieceCommands)) return false;
    rows_.fill(trace_, nullptr, piece);
    return true;
  }

 private:
  bool whole(RowPiece& piece) {
    if (given_) return false;
    given_ = true;
    rows_.maker_.make(rows_.seed_, index_, trace_, true);
    const Program& program = trace_.trace.program;
    std::vector<RevealMark> marks = trace_.reveals;
    std::erase_if(marks, [&](const RevealMark& mark) { return !shows_value(program, mark); });
    const auto beliefs = predictions(program, marks);
    rows_.fill(trace_, &beliefs, piece);
    return true;
  }

  const TraceRows& rows_;
  std::uint64_t index_;
  TokenStream stream_;
  TokenTrace trace_;
  bool given_ = false;
};

TraceRows::TraceRows(const Task& task, const Tokenizer& tokenizer, std::uint64_t seed, bool beliefs)
    : sampler_(without_stages(task)),
      tokenizer_(tokenizer),
      maker_(sampler_, tokenizer),
      seed_(seed),
      beliefs_(beliefs) {
  const Task& own = sampler_.task();
  const auto shows = [](RevealForm form) {
    return form == RevealForm::kPrint || form == RevealForm::kEqual;
  };
  // Blind questions (!=, in) have no value to predict.
  const bool by_reveals = own.reveals != Reveals::kNone && own.spacing <= own.commands &&
                          std::ranges::any_of(own.reveal_forms, shows);
  const bool by_full = own.full_reveal_period > 0 && own.full_reveal_period <= own.commands;
  if (!by_reveals && !by_full && own.initial_reveal == InitialReveal::kNone) {
    wrong_use(
        "a task to be evaluated must show values: with {} commands, spacing {} and these reveals "
        "no trace prints one",
        own.commands, own.spacing);
  }
  // The length of the first trace, piece by piece.
  TokenStream stream(maker_, seed_, 0);
  TokenTrace piece;
  std::uint64_t pieces = 0, first = 0;
  while (pieces < 16 && stream.next(piece, kPieceCommands)) {
    tokens_ += piece.ids.size();
    if (pieces++ == 0) first = tokens_;
  }
  const std::uint64_t seen = std::min(own.commands, 16 * kPieceCommands);
  if (maker_.lines() != nullptr && own.commands > seen && seen > kPieceCommands) {
    const std::uint64_t rest =
        saturating_multiply(tokens_ - first, own.commands - seen) / (seen - kPieceCommands);
    tokens_ = saturating_add(tokens_, rest);
  }
}

std::unique_ptr<Row> TraceRows::row(std::uint64_t index) const {
  return std::make_unique<TraceRow>(*this, index);
}

std::uint64_t TraceRows::vocabulary_size() const { return tokenizer_.vocabulary_size(); }

double TraceRows::chance() const { return 1.0 / static_cast<double>(sampler_.names()->size()); }

std::string TraceRows::variable_name(std::uint32_t variable) const {
  return sampler_.names()->variable(variable);
}

std::string TraceRows::value_name(std::uint32_t value) const {
  return sampler_.names()->value(value).text;
}

const ValueTree& TraceRows::values_at(const Program& program, const RevealMark& mark,
                                      std::size_t at) const {
  const Event& event = program.events()[mark.event];
  const std::lock_guard lock(mutex_);
  const Context context{event.kind, event.form, event.count, at};
  const auto found = trees_.find(context);
  if (found != trees_.end()) return found->second;
  // The same line with each value in turn, as the renderer and the tokenizer write it.
  std::vector<std::vector<std::uint32_t>> tokens;
  const auto variables = program.variables(event);
  for (ValueId value = 0; value < program.names().size(); ++value) {
    Program one(program.shared_names(), program.shared_table());
    std::vector<ValueId> values(program.values(event).begin(), program.values(event).end());
    values[at] = value;
    if (event.kind == EventKind::kPrint) {
      one.add_print(event.form != 0, variables, values);
    } else {
      one.add_assert(static_cast<Relation>(event.form), variables[0], values);
    }
    std::string text;
    std::vector<RevealMark> marks;
    std::uint64_t environment = 0;
    render_event(one, one.events()[0], environment, text, &marks);
    std::vector<std::uint32_t> ids, offsets;
    tokenizer_.encode_with_offsets(text, ids, offsets);
    marks_in_units(marks, offsets);
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(marks[at].offset);
    tokens.emplace_back(from, from + marks[at].length);
  }
  return trees_.emplace(context, ValueTree(tokens)).first->second;
}

void TraceRows::fill(const TokenTrace& trace, const std::vector<std::vector<double>>* beliefs,
                     RowPiece& piece) const {
  const std::span<const std::uint32_t> ids = trace.ids.span();
  piece.ids.assign(ids.begin(), ids.end());
  piece.reveals.clear();
  const Program& program = trace.trace.program;
  std::uint32_t event = UINT32_MAX;
  std::size_t at = 0, shown = 0;
  for (const RevealMark& mark : trace.reveals) {
    at = mark.event == event ? at + 1 : 0;
    event = mark.event;
    if (!shows_value(program, mark)) continue;
    const ValueTree& values = values_at(program, mark, at);
    const auto here = ids.subspan(mark.offset, mark.length);
    if (mark.offset == 0 || mark.offset + mark.length >= ids.size() ||
        !std::ranges::equal(here, values.tokens(mark.value))) {
      fail(
          "the tokenizer '{}' must write a value in one way wherever it stands, but writes '{}' in "
          "several",
          tokenizer_.name(), value_name(mark.value));
    }
    piece.reveals.push_back({.command = mark.command,
                             .variable = mark.variable,
                             .value = mark.value,
                             .after = mark.offset - 1,
                             .length = mark.length,
                             .end_token = ids[mark.offset + mark.length],
                             .values = &values});
    if (beliefs != nullptr) piece.reveals.back().belief = (*beliefs)[shown];
    ++shown;
  }
}

bool beliefs_are_cheap(const Task& task, std::uint64_t traces, std::string& sentence) {
  if (!task.uncertain()) return true;
  // At n = 5 a core makes some million steps a second, each over 120 states.
  constexpr double kMostVisits = 1e11, kLargestDegree = 10;
  const auto n = static_cast<double>(group_degree(task.group));
  double visits = static_cast<double>(task.commands) * static_cast<double>(traces);
  for (double k = 2; k <= n; ++k) visits *= k;
  if (n <= kLargestDegree && visits <= kMostVisits) return true;
  sentence = fmt::format(
      "the Bayes reference is left out: {} traces of {} commands on {} variables need {:.1g} "
      "visits of states (--bayes always computes it all the same)",
      traces, task.commands, n, visits);
  return false;
}

}  // namespace shellgame
