// The joint filters: the mass of whole states, in a store (dense_store.h, sparse_store.h), either
// renormalised at every step or carried as a linear recurrence.
#pragma once

#include <cmath>
#include <optional>

#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/numbers.h"

namespace shellgame {

template <class Store>
class JointFilter : public Filter {
 public:
  using Number = typename Store::number_type;
  using Traits = NumberTraits<Number>;

  JointFilter(const Automaton& automaton, const FilterOptions& options)
      : Filter(automaton),
        store_(automaton),
        normalise_(options.kind == FilterKind::kExact || options.kind == FilterKind::kRational ||
                   options.kind == FilterKind::kSparse),
        hard_resets_(options.hard_resets),
        format_(format_of(options.precision).name) {
    if (options.kind == FilterKind::kGain) {
      if (options.gains.size() != automaton.symbols().size())
        wrong_use("a gain must be given for each of {} symbols, not {}", automaton.symbols().size(),
                  options.gains.size());
      for (double gain : options.gains) gains_.push_back(Traits::from(Rational(gain)));
    }
  }

  StepReport step(SymbolId symbol) override {
    note(symbol);
    StepReport report;
    if (normalise_) {
      condition_and_divide(symbol, report);
    } else {
      condition(symbol, report);
    }
    const Transition& transition = automaton().symbol(symbol).transition;
    if (const auto* reset = std::get_if<Reset>(&transition)) {
      // As a product T h, a reset carries the lost mass on; as a gated reset it does not.
      const Number before = store_.total();
      store_.put(reset->prior);
      if (!normalise_ && !hard_resets_) store_.scale(before);
    } else {
      store_.move(symbol);
    }
    if (!gains_.empty()) store_.scale(gains_[symbol]);
    return report;
  }

  std::vector<double> belief() const override { return store_.belief(); }
  std::vector<double> predict(VariableId variable) const override {
    return store_.predict(variable);
  }
  double chance(SymbolId symbol) const override {
    if constexpr (requires { store_.chance(symbol); }) {
      return store_.chance(symbol);
    } else {
      return Filter::chance(symbol);
    }
  }
  double entropy() const override { return store_.entropy(); }
  double log_norm() const override { return normalise_ ? log_survival_ : store_.log_mass(); }
  std::uint64_t support() const override { return store_.support(); }
  std::vector<double> state() const override { return store_.state(); }
  const Store& store() const { return store_; }

 private:
  // b' = Z b / |Z b|, in the filter's own numbers.
  void condition_and_divide(SymbolId symbol, StepReport& report) {
    const bool evidence = store_.reveal(symbol);
    if (!evidence && Traits::kExact) return;
    const Number left = store_.total();
    if (Traits::is_zero(left)) throw_zero_evidence(format_);
    if (Traits::is_broken(left)) throw_broken();
    if (evidence) {
      const double log_left = Traits::log(left);
      report.survival = std::exp(log_left);
      log_survival_ += log_left;
    }
    if constexpr (!std::is_same_v<Number, Possible>) store_.divide(left);
  }

  // h' = Z h, or e_q for a hard reset.
  void condition(SymbolId symbol, StepReport& report) {
    const double before = store_.log_mass();
    if (hard_resets_) {
      if (const std::optional<StateId> only = store_.only_state(symbol)) {
        const std::vector<double> belief = store_.belief();
        report.survival = belief[*only];
        if (!store_.holds(*only)) {
          if (!is_possible()) throw_zero_evidence(format_);
          report.recovered = true;
        }
        store_.put_state(*only);
        return;
      }
    }
    if (store_.reveal(symbol)) report.survival = std::exp(store_.log_mass() - before);
    if (store_.vanished()) throw_zero_evidence(format_);
    if (store_.broken()) throw_broken();
  }

  [[noreturn]] void throw_broken() const {
    fail("step {}: the state holds a number that is too large for {}", steps(), format_);
  }

  Store store_;
  bool normalise_, hard_resets_;
  std::string format_;
  std::vector<Number> gains_;
  double log_survival_ = 0;
};

}  // namespace shellgame
