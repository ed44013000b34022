#include "shellgame/automata/sample_word.h"

#include <algorithm>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::uint64_t kMostStates = 1 << 16;

}  // namespace

WordSampler::WordSampler(const Automaton& automaton) : automaton_(automaton) {
  const StateSpace& space = automaton.space();
  const std::uint64_t size = space.size();
  if (size > kMostStates)
    wrong_use("words can be drawn from automata of at most {} states, not {}", kMostStates, size);
  Rational sum;
  const auto add = [&](Choices& choices, std::uint32_t item, const Rational& weight) {
    if (weight == 0) return;
    sum += weight;
    choices.emplace_back(item, to_double(sum));
  };
  for (const auto& [state, weight] : expand(space, automaton.start())) add(start_, state, weight);
  symbols_.resize(size);
  for (StateId q = 0; q < size; ++q) {
    sum = 0;
    if (automaton.has_policy()) {
      for (SymbolId s = 0; s < automaton.symbols().size(); ++s)
        add(symbols_[q], s, automaton.symbol(s).policy[q]);
      continue;
    }
    std::vector<SymbolId> allowed;
    for (SymbolId s = 0; s < automaton.symbols().size(); ++s) {
      if (allows(space, automaton.symbol(s), q)) allowed.push_back(s);
    }
    for (SymbolId s : allowed)
      add(symbols_[q], s, Rational(1, static_cast<unsigned long>(allowed.size())));
  }
  next_.resize(automaton.symbols().size());
  for (SymbolId s = 0; s < next_.size(); ++s) {
    if (automaton.symbol(s).is_reveal_only()) continue;
    next_[s].resize(size);
    for (StateId q = 0; q < size; ++q) {
      sum = 0;
      for (const auto& [target, weight] : successors(space, automaton.symbol(s), q))
        add(next_[s][q], target, weight);
    }
  }
}

std::uint32_t WordSampler::draw(const Choices& choices, RandomStream& stream) {
  if (choices.size() == 1) return choices[0].first;
  const double at = stream.unit();
  const auto found =
      std::ranges::upper_bound(choices, at, {}, [](const auto& c) { return c.second; });
  return (found == choices.end() ? choices.back() : *found).first;
}

SampledWord WordSampler::sample(std::size_t length, RandomStream& stream) const {
  SampledWord sampled;
  StateId state = draw(start_, stream);
  sampled.states.push_back(state);
  for (std::size_t t = 0; t < length; ++t) {
    if (symbols_[state].empty()) {
      fail("step {}: no symbol may be said in state '{}', since every reveal rules it out", t,
           automaton_.space().name(state));
    }
    const SymbolId symbol = draw(symbols_[state], stream);
    if (!next_[symbol].empty()) state = draw(next_[symbol][state], stream);
    sampled.word.push_back(symbol);
    sampled.states.push_back(state);
  }
  return sampled;
}

}  // namespace shellgame
