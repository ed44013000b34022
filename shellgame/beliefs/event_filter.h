// Any filter along a program that comes event by event. A filter's automaton must list its symbols;
// here it grows with what the text says: at a symbol that is new the filter is made again and reads
// the word so far once more. Rows of the same names share what they have met (SymbolBook), so that
// this happens in the first rows only.
//
//   EventFilter filter(book, {.kind = FilterKind::kLinear, .precision = Precision::kBf16});
//   filter.read(program, event);              // of each event
//   filter.predict(variable);                 // uniform from the step on at which it broke
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/program.h"

namespace shellgame {

// Symbols of programs over the same names, by their texts. Safe from several threads.
class SymbolBook {
 public:
  SymbolId find_or_add(const Program& program, const Event& event, std::size_t part);
  // Those so far, in the order of their numbers.
  std::vector<Symbol> symbols() const;
  bool is_command(SymbolId symbol) const;
  // Gains for FilterKind::kGain by symbol; 1 where none was fitted.
  std::vector<double> gains() const;
  // Adds what an exact filter lost at a symbol, from which the gains are fitted: the inverse of the
  // geometric mean of survivals.
  void fit(SymbolId symbol, double survival);

 private:
  struct Fit {
    double log_survivals = 0;
    std::uint64_t count = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, SymbolId> ids_;
  std::vector<Symbol> symbols_;
  std::vector<Fit> fits_;
};

struct EventFilterOptions {
  FilterOptions filter = {};
  // Instead of all that was read: the last so many commands, and what was shown after the first of
  // them, from a belief in which every order is as likely. 0: all.
  std::uint64_t window = 0;
};

class EventFilter {
 public:
  // The book must outlive it.
  EventFilter(SymbolBook& book, EventFilterOptions options) : book_(book), options_(options) {}

  // The next event. A filter that breaks (FilterFailure) stays broken: nothing is thrown.
  void read(const Program& program, const Event& event);
  // The value of one variable of a print whose other values are not known yet; read() of the whole
  // print then passes over it.
  void read_part(const Program& print, std::size_t part);
  // The probability of each value.
  std::vector<double> predict(VariableId variable);
  bool broken() const { return broken_; }
  std::uint64_t steps() const { return word_.size(); }
  // What the last step left of the belief (an exact filter's survival).
  double survival() const { return survival_; }
  SymbolId last_symbol() const { return word_.back(); }

 private:
  void step(SymbolId symbol, const Program& program);
  void make(bool uniform);

  SymbolBook& book_;
  EventFilterOptions options_;
  std::shared_ptr<const Names> names_;
  std::vector<ShuffledValues> start_;
  std::unique_ptr<Automaton> automaton_;
  std::unique_ptr<Filter> filter_;
  std::vector<SymbolId> word_;
  std::size_t parts_ = 0;  // of the print that comes next, already read
  bool broken_ = false, begun_ = false;
  double survival_ = 1;
};

}  // namespace shellgame
