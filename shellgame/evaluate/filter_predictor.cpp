#include "shellgame/evaluate/filter_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "shellgame/programs/render.h"
#include "shellgame/programs/stream_parser.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string key_of(const Names& names) {
  std::string key;
  for (std::size_t i = 0; i < names.size(); ++i)
    key += names.variable(i) + "=" + names.value(i).literal() + ",";
  return key;
}

// The whole line with one of the values in its place, and what comes after it.
std::string completed(const std::string& context, const PendingValue& asked, const Value& value,
                      const Names& names) {
  std::string text = context.substr(0, context.size() - asked.begun.size());
  if (asked.blank) text += " ";
  // Where the blank is still to come so is the quote of a string in source.
  const bool source = asked.variables.empty() && value.is_string;
  if (source && !asked.quoted) text += "'";
  text += value.text;
  if (source) text += "'";
  for (std::size_t k = asked.variables.size() - asked.left; k < asked.variables.size(); ++k) {
    if (asked.labelled) text += " " + names.variable(asked.variables[k]);
    text += " " + names.value(0).text;  // some value: only its beginning matters
  }
  return text + "\n>>> ";
}

// The token that follows those that were read, where the text is theirs and goes on. The text may
// begin in the middle of a row, and a tokenizer may put a blank of its own before what begins: then
// the text is encoded behind the end of another line.
std::optional<std::uint32_t> token_after(const Tokenizer& tokenizer,
                                         const std::vector<std::uint32_t>& read,
                                         const std::string& text) {
  for (const char* lead : {"", "\n"}) {
    std::vector<std::uint32_t> ids;
    tokenizer.encode(lead + text, ids);
    constexpr std::size_t kMostOfLead = 2;
    for (std::size_t skip = 0; skip <= kMostOfLead && skip + read.size() < ids.size(); ++skip) {
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(skip);
      if (std::equal(read.begin(), read.end(), begin)) return ids[skip + read.size()];
    }
  }
  return std::nullopt;
}

}  // namespace

// One row: its text so far, and the filter along it.
class FilterPredictor::Row {
 public:
  explicit Row(const FilterPredictor& of) : of_(of) { ++of.rows_; }

  void read(std::uint32_t id) {
    std::string text = of_.text_of(id);
    ids_.push_back(id);
    text_ += text;
    if (!begun_) {
      // A tokenizer may put a blank or a token of its own before the first prompt.
      const std::size_t prompt = text_.find(kPrompt);
      if (prompt == std::string::npos) return;
      text = text_.substr(prompt);
      begun_ = true;
    }
    const std::size_t before = parser_.pending().size() + text.size();
    parser_.feed(text, [&](const Program& program, const Event& event) { take(program, event); });
    // What is complete needs no tokens any more. A token across the border stays.
    if (before > parser_.pending().size()) {
      const std::size_t done = text_.size() - parser_.pending().size();
      std::size_t first = 0, bytes = 0;
      while (first < ids_.size() && bytes + of_.text_of(ids_[first]).size() <= done)
        bytes += of_.text_of(ids_[first++]).size();
      ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(first));
      text_.erase(0, bytes);
    }
  }

  // Fills the logits after the last token.
  void answer(double* logits) {
    const auto asked = parser_.pending_value(
        [&](const Program& program, const Event& event) { take(program, event); });
    if (!asked)
      fail("a filter answers where a print or 'assert ==' shows a value, and not after '{}'",
           text_.substr(text_.size() - std::min<std::size_t>(text_.size(), 40)));
    const Names& names = *parser_.names();
    const std::vector<double> belief = belief_of(*asked, names);
    std::fill_n(logits, of_.vocabulary_size(), -std::numeric_limits<double>::infinity());
    double sum = 0;
    const auto choices = of_.choices(text_, ids_, *asked, names);
    std::vector<double> chances(choices->size());
    for (std::size_t i = 0; i < chances.size(); ++i)
      sum += chances[i] = belief[(*choices)[i].value];
    for (std::size_t i = 0; i < chances.size(); ++i) {
      // The values that can still come may all be impossible, after a wrong beginning.
      const double chance = sum > 0 ? chances[i] : 1;
      double& logit = logits[(*choices)[i].token];
      const double other = std::isfinite(logit) ? std::exp(logit) : 0;
      if (chance > 0) logit = std::log(other + chance);
    }
  }

  // For fitting: the exact filter's survivals are told to the book.
  bool fits = false;

 private:
  void take(const Program& program, const Event& event) {
    if (of_.options_.baseline != Baseline::kNone) {
      if (event.kind != EventKind::kPrint) return;
      for (std::size_t k = 0; k < event.count; ++k)
        seen_[program.variables(event)[k]] = program.values(event)[k];
      return;
    }
    EventFilter& filter = this->filter(program.names());
    const std::uint64_t steps = filter.steps();
    filter.read(program, event);
    if (fits && filter.steps() > steps && !filter.broken())
      of_.book_of(program.names()).fit(filter.last_symbol(), filter.survival());
    note_break();
  }

  EventFilter& filter(const Names& names) {
    if (!filter_) {
      EventFilterOptions options = of_.options_.filter;
      if (fits) options = {};
      filter_.emplace(of_.book_of(names), options);
    }
    return *filter_;
  }

  std::vector<double> belief_of(const PendingValue& asked, const Names& names) {
    const double n = static_cast<double>(names.size());
    std::vector<double> belief(names.size(), 1 / n);
    if (of_.options_.baseline == Baseline::kUniform) return belief;
    if (of_.options_.baseline == Baseline::kLastSeen) {
      const auto seen = seen_.find(asked.variable);
      if (seen == seen_.end()) return belief;
      std::ranges::fill(belief, 0);
      belief[seen->second] = 1;
      return belief;
    }
    EventFilter& filter = this->filter(names);
    if (!asked.before.empty()) {
      std::vector<VariableId> variables;
      std::vector<ValueId> values;
      for (const auto& [variable, value] : asked.before) {
        variables.push_back(variable);
        values.push_back(value);
      }
      Program print(parser_.names(), std::make_shared<CommandTable>());
      print.add_print(false, variables, values);
      for (std::size_t part = 0; part < variables.size(); ++part) filter.read_part(print, part);
    }
    belief = filter.predict(asked.variable);
    note_break();
    return belief;
  }

  void note_break() {
    if (!filter_->broken() || told_) return;
    told_ = true;
    ++of_.broken_;
    std::uint64_t before = of_.first_break_;
    const std::uint64_t now = filter_->steps();
    while ((before == 0 || now < before) && !of_.first_break_.compare_exchange_weak(before, now)) {
    }
  }

  const FilterPredictor& of_;
  StreamParser parser_;
  std::optional<EventFilter> filter_;
  std::map<VariableId, ValueId> seen_;
  std::vector<std::uint32_t> ids_;  // since the last complete example
  std::string text_;                // of these ids
  bool begun_ = false, told_ = false;
};

class FilterPredictor::FilterReading final : public Reading {
 public:
  FilterReading(const FilterPredictor& of, std::size_t rows) : vocabulary_(of.vocabulary_size()) {
    for (std::size_t r = 0; r < rows; ++r) rows_.push_back(std::make_unique<Row>(of));
    next_.resize(rows);
  }

  void read(std::span<const std::int64_t> ids, std::span<const TokenPlace> places,
            std::vector<double>& logits) override {
    const std::size_t length = ids.size() / rows_.size();
    logits.resize(places.size() * vocabulary_);
    parallel_for(rows_.size(), [&](std::size_t r) {
      std::size_t done = 0;
      for (std::size_t p = 0; p < places.size(); ++p) {
        if (places[p].row != r) continue;
        for (const std::uint32_t id : next_[r]) rows_[r]->read(id);
        next_[r].clear();
        for (; done <= places[p].token; ++done)
          rows_[r]->read(static_cast<std::uint32_t>(ids[r * length + done]));
        rows_[r]->answer(logits.data() + p * vocabulary_);
      }
      // Behind the last question of a row there may be padding, which is no text: what is there
      // waits until something behind it is asked.
      for (const std::int64_t id : ids.subspan(r * length + done, length - done))
        next_[r].push_back(static_cast<std::uint32_t>(id));
    });
  }

  std::unique_ptr<Reading> copy() const override {
    wrong_use("filters run freely only where every value is one token: choose --mode teacher");
  }

 private:
  std::size_t vocabulary_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::vector<std::uint32_t>> next_;
};

FilterPredictor::FilterPredictor(const Tokenizer& tokenizer, const FilterPredictorOptions& options)
    : tokenizer_(tokenizer), options_(options) {
  for (std::uint32_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    try {
      texts_.push_back(tokenizer.decode(&id, 1));
    } catch (const Error&) {
      texts_.emplace_back();  // an id that stands for nothing
    }
  }
}

FilterPredictor::~FilterPredictor() = default;

std::unique_ptr<Reading> FilterPredictor::begin(std::size_t rows) const {
  return std::make_unique<FilterReading>(*this, rows);
}

const std::string& FilterPredictor::text_of(std::uint32_t id) const {
  if (id >= texts_.size())
    fail("an id must be below {}, the size of the vocabulary, not {}", texts_.size(), id);
  return texts_[id];
}

SymbolBook& FilterPredictor::book_of(const Names& names) const {
  const std::scoped_lock lock(mutex_);
  auto& book = books_[key_of(names)];
  if (!book) book = std::make_unique<SymbolBook>();
  return *book;
}

std::shared_ptr<const FilterPredictor::Choices> FilterPredictor::choices(
    const std::string& context, const std::vector<std::uint32_t>& read, const PendingValue& asked,
    const Names& names) const {
  const std::string key = key_of(names) + context;
  {
    const std::scoped_lock lock(mutex_);
    const auto known = choices_.find(key);
    if (known != choices_.end()) return known->second;
  }
  auto choices = std::make_shared<Choices>();
  for (ValueId v = 0; v < names.size(); ++v) {
    if (!names.value(v).text.starts_with(asked.begun)) continue;
    // Only what agrees with the tokens that were read can come.
    if (const auto token =
            token_after(tokenizer_, read, completed(context, asked, names.value(v), names)))
      choices->push_back({*token, v});
  }
  if (choices->empty())
    fail("no value of the trace goes on after '{}' in the tokens that were read",
         context.substr(context.size() - std::min<std::size_t>(context.size(), 40)));
  const std::scoped_lock lock(mutex_);
  constexpr std::size_t kMostKept = 1 << 16;
  if (choices_.size() < kMostKept) choices_.emplace(key, choices);
  return choices;
}

void FilterPredictor::fit_gains(const Source& source, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) {
    Row row(*this);
    row.fits = true;
    const auto episode = source.episode(i);
    for (Piece piece; episode->next(piece, 4096);) {
      for (const std::uint32_t id : piece.ids) row.read(id);
    }
  }
  rows_ = 0;
}

std::vector<std::string> FilterPredictor::notes() const {
  if (broken_ == 0) return {};
  return {
      fmt::format("the filter broke in {} of {} rows, the first time at step {}: it answers "
                  "uniformly from there on",
                  broken_.load(), rows_.load(), first_break_.load())};
}

std::vector<std::string> filter_predictor_names() {
  std::vector<std::string> names = filter_names();
  names.insert(names.end(), {"window", "uniform", "last-seen"});
  return names;
}

FilterPredictorOptions parse_filter_predictor(const std::string& kind, Precision precision,
                                              std::uint64_t window) {
  if ((kind == "window") != (window > 0))
    wrong_use("--window N must be given with --filter window, and with no other filter");
  if (precision != Precision::kFp64 && kind == "rational")
    wrong_use("the rational filter is exact: it takes no --precision");
  if (precision != Precision::kFp64 && (kind == "uniform" || kind == "last-seen"))
    wrong_use("the baseline '{}' computes nothing: it takes no --precision", kind);
  FilterPredictorOptions options;
  options.filter.window = window;
  options.filter.filter.precision = precision;
  if (kind == "uniform") {
    options.baseline = Baseline::kUniform;
  } else if (kind == "last-seen") {
    options.baseline = Baseline::kLastSeen;
  } else if (kind != "window") {
    options.filter.filter.kind = parse_filter(kind);
  }
  return options;
}

}  // namespace shellgame
