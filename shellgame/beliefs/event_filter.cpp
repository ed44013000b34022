#include "shellgame/beliefs/event_filter.h"

#include <cmath>

#include "shellgame/automata/from_program.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

bool is_evidence(EventKind kind) { return kind == EventKind::kPrint || kind == EventKind::kAssert; }

// One event alone, as a symbol: of a print, one variable's part.
Symbol symbol_alone(const Program& program, const Event& event, std::size_t part,
                    const std::string& name) {
  Program alone(program.shared_names(), program.shared_table());
  for (VariableId v = 0; v < program.names().size(); ++v) alone.add_assign(v, v);
  switch (event.kind) {
    case EventKind::kPermute:
      alone.add_permute(event.at);
      break;
    case EventKind::kChoose:
      alone.add_choose(event.at);
      break;
    case EventKind::kCall:
      alone.add_call(program.operands(event)[0], program.variables(event));
      break;
    case EventKind::kAssert:
      alone.add_assert(static_cast<Relation>(event.form), program.variables(event)[0],
                       program.values(event));
      break;
    default:
      alone.add_print(false, program.variables(event).subspan(part, 1),
                      program.values(event).subspan(part, 1));
  }
  Symbol symbol = word_of(alone).automaton.symbol(0);
  symbol.name = name;
  return symbol;
}

}  // namespace

SymbolId SymbolBook::find_or_add(const Program& program, const Event& event, std::size_t part) {
  std::string name;
  if (event.kind == EventKind::kPrint) {
    // The same whatever the form of the print.
    name = program.names().variable(program.variables(event)[part]) + " is " +
           program.names().value(program.values(event)[part]).literal();
  } else {
    name = symbol_name(program, event, 0, Prints::kWhole);
    // The text of a call does not say what the function does, and rows have functions of their own.
    if (event.kind == EventKind::kCall) {
      Program definition(program.shared_names(), program.shared_table());
      definition.add_define(program.operands(event)[0]);
      name += "\n" + symbol_name(definition, definition.events().back(), 0, Prints::kWhole);
    }
  }
  const std::scoped_lock lock(mutex_);
  const auto [place, is_new] = ids_.emplace(name, static_cast<SymbolId>(symbols_.size()));
  if (is_new) {
    symbols_.push_back(symbol_alone(program, event, part, name));
    fits_.emplace_back();
  }
  return place->second;
}

std::vector<Symbol> SymbolBook::symbols() const {
  const std::scoped_lock lock(mutex_);
  return symbols_;
}

bool SymbolBook::is_command(SymbolId symbol) const {
  const std::scoped_lock lock(mutex_);
  return symbols_[symbol].is_transition_only();
}

std::vector<double> SymbolBook::gains() const {
  const std::scoped_lock lock(mutex_);
  std::vector<double> gains;
  for (const Fit& fit : fits_)
    gains.push_back(fit.count > 0 ? std::exp(-fit.log_survivals / static_cast<double>(fit.count))
                                  : 1);
  return gains;
}

void SymbolBook::fit(SymbolId symbol, double survival) {
  const std::scoped_lock lock(mutex_);
  fits_[symbol].log_survivals += std::log(survival);
  ++fits_[symbol].count;
}

void EventFilter::read(const Program& program, const Event& event) {
  if (event.kind == EventKind::kAssign || event.kind == EventKind::kStart) {
    const auto variables = program.variables(event);
    const auto values = program.values(event);
    if (begun_)
      wrong_use("variables must be assigned before the first command, and '{}' is assigned later",
                program.names().variable(variables[0]));
    start_.push_back({{variables.begin(), variables.end()}, {values.begin(), values.end()}});
    names_ = program.shared_names();
    return;
  }
  if (!is_evidence(event.kind) && !is_command(event.kind)) return;
  begun_ = true;
  const std::size_t parts = event.kind == EventKind::kPrint ? event.count : 1;
  for (std::size_t part = parts_; part < parts; ++part)
    step(book_.find_or_add(program, event, part), program);
  parts_ = 0;
}

void EventFilter::read_part(const Program& print, std::size_t part) {
  if (part < parts_) return;
  step(book_.find_or_add(print, print.events().back(), part), print);
  ++parts_;
}

void EventFilter::make(bool uniform) {
  Distribution start{.states = {}, .groups = start_};
  if (uniform) {
    start.groups.assign(1, {});
    ShuffledValues& all = start.groups.front();
    for (VariableId v = 0; v < names_->size(); ++v) {
      all.variables.push_back(v);
      all.values.push_back(v);
    }
  }
  filter_.reset();
  automaton_ = std::make_unique<Automaton>(StateSpace::orders(names_), start, book_.symbols());
  FilterOptions options = options_.filter;
  if (options.kind == FilterKind::kGain) {
    options.gains = book_.gains();
    options.gains.resize(automaton_->symbols().size(), 1);  // others may have added symbols since
  }
  const bool exact = options.kind == FilterKind::kExact && options.precision == Precision::kFp64;
  filter_ =
      exact && !options.flush ? make_exact_filter(*automaton_) : make_filter(*automaton_, options);
}

void EventFilter::step(SymbolId symbol, const Program& program) {
  if (names_ == nullptr) names_ = program.shared_names();
  word_.push_back(symbol);
  if (broken_ || options_.window > 0) return;
  try {
    if (automaton_ == nullptr || symbol >= automaton_->symbols().size()) {
      make(false);
      for (const SymbolId before : word_) survival_ = filter_->step(before).survival;
    } else {
      survival_ = filter_->step(symbol).survival;
    }
  } catch (const FilterFailure&) {
    broken_ = true;
  }
}

std::vector<double> EventFilter::predict(VariableId variable) {
  if (names_ == nullptr) wrong_use("a variable must have a value before it is asked for");
  if (!broken_) {
    try {
      if (options_.window > 0) {
        std::size_t first = word_.size();
        for (std::uint64_t commands = 0; first > 0 && commands < options_.window; --first)
          commands += book_.is_command(word_[first - 1]) ? 1 : 0;
        make(first > 0);  // what is within the window from the start knows the start
        for (std::size_t t = first; t < word_.size(); ++t) filter_->step(word_[t]);
      } else if (filter_ == nullptr) {
        make(false);
      }
      return filter_->predict(variable);
    } catch (const FilterFailure&) {
      broken_ = true;
    }
  }
  return std::vector<double>(names_->size(), 1.0 / static_cast<double>(names_->size()));
}

}  // namespace shellgame
