// A filter as something that predicts tokens: it decodes what it reads, parses it, follows the
// belief, and where the text is about to show a value gives the tokens that may come next the
// probability that the belief gives their values; all other tokens have none. So exact Bayes, the
// paper's linear and marginal recurrences in any precision, Bayes with a short memory and two
// baselines are scored as models are. It reads only what a model reads: ids.
//
// A filter that breaks (its number format holds no mass any more) answers uniformly from there on;
// notes() says how many rows that were.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shellgame/beliefs/event_filter.h"
#include "shellgame/episodes/source.h"
#include "shellgame/evaluate/predictor.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

struct PendingValue;  // programs/stream_parser.h

// "uniform": every value is as likely; "last-seen": the value that the variable showed last, and
// uniform before it has shown one.
enum class Baseline { kNone, kUniform, kLastSeen };

struct FilterPredictorOptions {
  EventFilterOptions filter = {};
  Baseline baseline = Baseline::kNone;  // instead of the filter
};

class FilterPredictor final : public Predictor {
 public:
  // The tokenizer must outlive it. Throws UsageError for a kind of filter that needs a whole
  // automaton.
  FilterPredictor(const Tokenizer& tokenizer, const FilterPredictorOptions& options);
  ~FilterPredictor() override;

  // Fits the gains of FilterKind::kGain: one a symbol, from what an exact filter loses on these
  // episodes. They should be others than those that it is judged on.
  void fit_gains(const Source& source, std::uint64_t first, std::uint64_t count);

  std::uint64_t vocabulary_size() const override { return tokenizer_.vocabulary_size(); }
  std::unique_ptr<Reading> begin(std::size_t rows) const override;
  std::vector<std::string> notes() const override;

 private:
  class Row;
  class FilterReading;
  // The tokens that may come next and the values that they lead to, where a text stands.
  struct Choice {
    std::uint32_t token = 0;
    ValueId value = 0;
  };
  using Choices = std::vector<Choice>;
  std::shared_ptr<const Choices> choices(const std::string& context,
                                         const std::vector<std::uint32_t>& read,
                                         const PendingValue& asked, const Names& names) const;
  // Rows with the same names share their symbols.
  SymbolBook& book_of(const Names& names) const;
  const std::string& text_of(std::uint32_t id) const;

  const Tokenizer& tokenizer_;
  FilterPredictorOptions options_;
  std::vector<std::string> texts_;  // of each id
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<SymbolBook>> books_;
  mutable std::map<std::string, std::shared_ptr<const Choices>> choices_;
  mutable std::atomic<std::uint64_t> rows_ = 0, broken_ = 0, first_break_ = 0;
};

// The words of `evaluate --filter`: the kinds of filters, "window", "uniform", "last-seen".
std::vector<std::string> filter_predictor_names();
// Throws UsageError for a name that is none, for a window of another one than "window", and for a
// precision of what computes in none.
FilterPredictorOptions parse_filter_predictor(const std::string& kind, Precision precision,
                                              std::uint64_t window);

}  // namespace shellgame
