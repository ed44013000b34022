#include "tests/support/belief_cases.h"

#include <fmt/format.h>

#include <sstream>

#include "shellgame/automata/sample_word.h"
#include "shellgame/system/process.h"

namespace shellgame {
namespace {

// k fractions with a common denominator that sum to 1; some may be 0.
std::vector<Rational> fractions(RandomStream& stream, std::size_t k) {
  std::vector<unsigned long> parts(k);
  unsigned long sum = 0;
  for (auto& part : parts) sum += part = stream.below(4) == 0 ? 0 : stream.below(9);
  if (sum == 0) sum = parts[stream.below(static_cast<std::uint32_t>(k))] = 1;
  std::vector<Rational> result;
  for (unsigned long part : parts) result.emplace_back(part, sum);
  for (Rational& r : result) r.canonicalize();
  return result;
}

Kernel random_kernel(RandomStream& stream, std::uint32_t m) {
  Kernel kernel;
  const bool deterministic = stream.below(3) == 0;
  for (std::uint32_t q = 0; q < m; ++q) {
    kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
    const std::vector<Rational> column = fractions(stream, m);
    if (deterministic) {
      kernel.targets.push_back(stream.below(m));
      kernel.weights.emplace_back(1);
      continue;
    }
    for (std::uint32_t to = 0; to < m; ++to) {
      if (column[to] == 0) continue;
      kernel.targets.push_back(to);
      kernel.weights.push_back(column[to]);
    }
  }
  kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
  return kernel;
}

Distribution random_distribution(RandomStream& stream, std::uint32_t m) {
  Distribution result;
  const std::vector<Rational> weights = fractions(stream, m);
  for (std::uint32_t q = 0; q < m; ++q) {
    if (weights[q] != 0) result.states.emplace_back(q, weights[q]);
  }
  return result;
}

Rational number(const nlohmann::json& json) {
  return json.is_string() ? parse_rational(json.get<std::string>()) : Rational(json.get<double>());
}

}  // namespace

BeliefCase random_case(RandomStream& stream, std::size_t most_states, std::size_t length) {
  const std::uint32_t m = 1 + stream.below(static_cast<std::uint32_t>(most_states));
  std::vector<std::string> names;
  for (std::uint32_t q = 0; q < m; ++q) names.push_back(fmt::format("q{}", q));
  std::vector<Symbol> symbols(1 + stream.below(5));
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    Symbol& symbol = symbols[s];
    symbol.name = fmt::format("s{}", s);
    const std::uint32_t kind = stream.below(4);
    if (kind == 1) {
      StateSet set;
      for (std::uint32_t q = 0; q < m; ++q) {
        if (stream.below(2) == 0) set.states.push_back(q);
      }
      if (set.states.empty()) set.states.push_back(stream.below(m));
      symbol.reveal = set;
    } else if (kind == 2) {
      StateWeights soft;
      for (std::uint32_t q = 0; q < m; ++q) soft.weights.emplace_back(stream.below(4), 4);
      for (Rational& w : soft.weights) w.canonicalize();
      symbol.reveal = soft;
    }
    const std::uint32_t move = stream.below(5);
    if (move == 1) symbol.transition = Reset{random_distribution(stream, m)};
    if (move >= 2) symbol.transition = random_kernel(stream, m);
  }
  // One symbol allows everything, so that a word never ends.
  symbols[0].reveal = AllStates{};
  if (stream.below(4) == 0) {
    for (Symbol& symbol : symbols) {  // a policy takes the place of a likelihood
      const auto* soft = std::get_if<StateWeights>(&symbol.reveal);
      if (soft == nullptr) continue;
      StateSet set;
      for (std::uint32_t q = 0; q < m; ++q) {
        if (soft->weights[q] != 0) set.states.push_back(q);
      }
      if (set.states.empty()) set.states.push_back(0);
      symbol.reveal = set;
    }
    for (std::uint32_t q = 0; q < m; ++q) {
      std::vector<Rational> chances = fractions(stream, symbols.size());
      const StateSpace space = StateSpace::listed(names);
      for (std::size_t s = 1; s < symbols.size(); ++s) {
        if (allows(space, symbols[s], q)) continue;
        chances[0] += chances[s];
        chances[s] = 0;
      }
      for (std::size_t s = 0; s < symbols.size(); ++s) symbols[s].policy.push_back(chances[s]);
    }
  }
  Automaton automaton(StateSpace::listed(names), random_distribution(stream, m),
                      std::move(symbols));
  std::vector<SymbolId> word = WordSampler(automaton).sample(length, stream).word;
  return {std::move(automaton), std::move(word)};
}

nlohmann::json to_json(const BeliefCase& one) {
  const Automaton& automaton = one.automaton;
  const StateSpace& space = automaton.space();
  nlohmann::json start = nlohmann::json::array();
  for (StateId q = 0; q < space.size(); ++q) start.push_back("0");
  for (const auto& [q, weight] : expand(space, automaton.start())) start[q] = weight.get_str();
  nlohmann::json steps = nlohmann::json::array();
  for (SymbolId id : one.word) {
    const Symbol& symbol = automaton.symbol(id);
    nlohmann::json weights = nlohmann::json::array(), columns = nlohmann::json::array();
    for (StateId q = 0; q < space.size(); ++q) {
      weights.push_back(reveal_weight(space, symbol, q).get_str());
      nlohmann::json column = nlohmann::json::array();
      for (const auto& [to, weight] : successors(space, symbol, q))
        column.push_back({to, weight.get_str()});
      columns.push_back(column);
    }
    steps.push_back({{"weights", weights}, {"columns", columns}});
  }
  return {{"start", start}, {"steps", steps}};
}

BeliefCase from_json(const nlohmann::json& json) {
  std::vector<std::string> names;
  Distribution start;
  Rational sum;
  for (const auto& weight : json["start"]) {
    start.states.emplace_back(static_cast<StateId>(names.size()), number(weight));
    sum += start.states.back().second;
    names.push_back(fmt::format("q{}", names.size()));
  }
  start.states.back().second += 1 - sum;
  std::vector<Symbol> symbols;
  std::vector<SymbolId> word;
  for (const auto& step : json["steps"]) {
    Symbol symbol;
    symbol.name = fmt::format("step {}", symbols.size());
    StateWeights soft;
    for (const auto& weight : step["weights"]) soft.weights.push_back(number(weight));
    symbol.reveal = soft;
    Kernel kernel;
    for (const auto& column : step["columns"]) {
      kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
      sum = 0;
      for (const auto& entry : column) {
        kernel.targets.push_back(entry[0].get<StateId>());
        kernel.weights.push_back(number(entry[1]));
        sum += kernel.weights.back();
      }
      kernel.weights.back() += 1 - sum;
    }
    kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
    symbol.transition = kernel;
    word.push_back(static_cast<SymbolId>(symbols.size()));
    symbols.push_back(std::move(symbol));
  }
  return {Automaton(StateSpace::listed(names), std::move(start), std::move(symbols)), word};
}

std::vector<nlohmann::json> ask_oracle(const std::vector<std::string>& command,
                                       const std::vector<BeliefCase>& cases) {
  std::string input, output;
  for (const BeliefCase& one : cases) input += to_json(one).dump() + "\n";
  Process child(command, {});
  std::string_view unsent = input;
  while (!unsent.empty() && child.exchange(unsent, output, std::chrono::seconds(1))) {
  }
  child.close_input();
  while (child.exchange(unsent, output, std::chrono::seconds(1))) {
  }
  const std::string ending = child.end(std::chrono::seconds(10));
  if (ending != "exit code 0")
    throw std::runtime_error(command[0] + " ended with " + ending + ": " + child.errors());
  std::vector<nlohmann::json> answers;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  return answers;
}

}  // namespace shellgame
