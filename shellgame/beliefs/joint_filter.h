// The joint filters: the mass of whole states, in a store (dense_store.h, sparse_store.h), either
// renormalised at every step or carried as a linear recurrence.
#pragma once

#include <cmath>
#include <optional>

#include "shellgame/beliefs/filter.h"
#include "shellgame/numbers/number_kinds.h"

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
      for (double gain : options.gains) {
        if (!std::isfinite(gain) || gain < 0)
          wrong_use("a gain must be a finite number of at least 0, not {}", gain);
        gains_.push_back(Traits::from(Rational(gain)));
      }
    }
  }

  StepReport step(SymbolId symbol) override {
    live();
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

  std::vector<double> belief() const override { return live().belief(); }
  std::vector<double> predict(VariableId variable) const override {
    require_variable(variable);
    return live().predict(variable);
  }
  double chance(SymbolId symbol) const override {
    if constexpr (requires { store_.chance(symbol); }) {
      return live().chance(symbol);
    } else {
      return Filter::chance(symbol);
    }
  }
  double entropy() const override { return live().entropy(); }
  double log_norm() const override { return normalise_ ? log_survival_ : live().log_mass(); }
  std::uint64_t support() const override { return live().support(); }
  std::vector<double> state() const override { return live().state(); }
  const Store& store() const { return store_; }

 private:
  // b' = Z b / |Z b|, in the filter's own numbers.
  void condition_and_divide(SymbolId symbol, StepReport& report) {
    const bool evidence = store_.reveal(symbol);
    if (!evidence && Traits::kExact) return;
    const Number left = store_.total();
    if (Traits::is_zero(left)) end_by_evidence();
    if (Traits::is_broken(left)) end_by_size();
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
        report.survival = share_of(*only);
        if (!store_.holds(*only)) {
          release();
          if (!is_possible()) {
            ended_ = true;
            throw_zero_evidence(format_, false);
          }
          report.recovered = true;
        }
        store_.put_state(*only);
        return;
      }
    }
    if (store_.reveal(symbol)) report.survival = std::exp(store_.log_mass() - before);
    if (store_.vanished()) end_by_evidence();
    if (store_.broken()) end_by_size();
  }

  double share_of(StateId state) const {
    if constexpr (requires { store_.share(state); }) {
      return store_.share(state);
    } else {
      return store_.belief()[state];
    }
  }

  // What a large store holds is given back, so that what comes next can have its memory.
  void release() {
    if constexpr (requires { store_.release(); }) store_.release();
  }
  const Store& live() const {
    if (ended_) wrong_use("a filter that has failed holds no belief any more");
    return store_;
  }
  [[noreturn]] void end_by_evidence() {
    ended_ = true;
    release();
    throw_zero_evidence(format_, is_possible());
  }
  [[noreturn]] void end_by_size() {
    ended_ = true;
    throw NumberTooLarge(steps(), format_);
  }

  Store store_;
  bool normalise_, hard_resets_, ended_ = false;
  std::string format_;
  std::vector<Number> gains_;
  double log_survival_ = 0;
};

}  // namespace shellgame
