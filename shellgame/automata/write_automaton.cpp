#include <fmt/format.h>

#include <algorithm>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

// Fractions need quotes; numbers do not.
std::string number(const Rational& value) {
  const std::string text = to_string(value);
  return text.find('/') == std::string::npos ? text : in_quotes(text);
}

class Writer {
 public:
  explicit Writer(const StateSpace& space) : space_(space) {}

  std::string write(const Automaton& automaton, const std::vector<SymbolId>& word) {
    write_states();
    text_ += "start = " + distribution(automaton.start()) + "\n";
    if (!word.empty()) {
      text_ += "word = [";
      for (std::size_t t = 0; t < word.size(); ++t)
        text_ += (t > 0 ? ", " : "") + in_quotes(automaton.symbol(word[t]).name);
      text_ += "]\n";
    }
    for (const Symbol& symbol : automaton.symbols()) {
      text_ += fmt::format("\n[symbol.{}]\n", in_quotes(symbol.name));
      std::visit([&](const auto& reveal) { write(reveal); }, symbol.reveal);
      std::visit([&](const auto& transition) { write(transition); }, symbol.transition);
      if (!symbol.policy.empty()) text_ += "policy = " + weights(symbol.policy) + "\n";
    }
    return std::move(text_);
  }

 private:
  std::string value(ValueId v) const {
    const Value& known = space_.names().value(v);
    return known.is_string ? in_quotes(known.text) : known.text;
  }

  void write_states() {
    if (!space_.is_orders()) {
      text_ += "states = [";
      for (StateId q = 0; q < space_.size(); ++q)
        text_ += (q > 0 ? ", " : "") + in_quotes(space_.name(q));
      text_ += "]\n";
      return;
    }
    std::string variables, values;
    for (std::size_t v = 0; v < space_.degree(); ++v) {
      variables += (v > 0 ? ", " : "") + in_quotes(space_.names().variable(v));
      values += (v > 0 ? ", " : "") + value(static_cast<ValueId>(v));
    }
    text_ += fmt::format("variables = [{}]\nvalues = [{}]\n", variables, values);
  }

  std::string distribution(const Distribution& d) const {
    if (d.groups.empty()) {
      if (d.states.size() == 1) return in_quotes(space_.name(d.states[0].first));
      return table(d.states);
    }
    if (d.groups.size() == 1 && d.groups[0].values.size() == space_.degree() && space_.degree() > 1)
      return "\"uniform\"";
    std::vector<std::string> values(space_.degree());
    for (const ShuffledValues& group : d.groups) {
      if (group.values.size() != 1) return table(expand(space_, d));
      values[group.variables[0]] = value(group.values[0]);
    }
    return fmt::format("[{}]", fmt::join(values, ", "));
  }

  std::string table(const std::vector<std::pair<StateId, Rational>>& entries) const {
    std::string text = "{ ";
    for (std::size_t k = 0; k < entries.size(); ++k) {
      text += fmt::format("{}{} = {}", k > 0 ? ", " : "", in_quotes(space_.name(entries[k].first)),
                          number(entries[k].second));
    }
    return text + " }";
  }

  std::string weights(const std::vector<Rational>& all) const {
    std::vector<std::pair<StateId, Rational>> entries;
    for (StateId q = 0; q < all.size(); ++q) {
      if (all[q] != 0) entries.emplace_back(q, all[q]);
    }
    return table(entries);
  }

  void write(const AllStates&) {}
  void write(const StateSet& set) {
    text_ += "reveal = [";
    for (std::size_t k = 0; k < set.states.size(); ++k)
      text_ += (k > 0 ? ", " : "") + in_quotes(space_.name(set.states[k]));
    text_ += "]\n";
  }
  void write(const StateWeights& soft) { text_ += "likelihood = " + weights(soft.weights) + "\n"; }
  // A print may name a variable twice; a file's table names it once, with what both allow.
  static std::vector<Cell> merged(const std::vector<Cell>& cells) {
    std::vector<Cell> once;
    for (const Cell& cell : cells) {
      const auto known = std::ranges::find(once, cell.variable, &Cell::variable);
      if (known == once.end()) {
        once.push_back(cell);
        continue;
      }
      std::erase_if(known->values, [&](ValueId value) {
        return std::ranges::find(cell.values, value) == cell.values.end();
      });
    }
    return once;
  }

  void write(const Cells& cells) {
    text_ += "reveal = { ";
    const std::vector<Cell> once = merged(cells.cells);
    for (std::size_t k = 0; k < once.size(); ++k) {
      const Cell& cell = once[k];
      if (cell.values.empty())
        wrong_use(
            "a symbol of an automaton's file must allow some state, and one shows two values of "
            "the variable '{}' at once",
            space_.names().variable(cell.variable));
      text_ += fmt::format("{}{} = ", k > 0 ? ", " : "",
                           in_quotes(space_.names().variable(cell.variable)));
      if (cell.values.size() == 1) {
        text_ += value(cell.values[0]);
        continue;
      }
      text_ += '[';
      for (std::size_t i = 0; i < cell.values.size(); ++i)
        text_ += (i > 0 ? ", " : "") + value(cell.values[i]);
      text_ += ']';
    }
    text_ += " }\n";
  }
  void write(const Stay&) {}
  void write(const Kernel& kernel) {
    text_ += "next = { ";
    for (StateId q = 0; q + 1 < kernel.offsets.size(); ++q) {
      std::vector<std::pair<StateId, Rational>> column;
      for (std::uint32_t k = kernel.offsets[q]; k < kernel.offsets[q + 1]; ++k)
        column.emplace_back(kernel.targets[k], kernel.weights[k]);
      text_ +=
          fmt::format("{}{} = {}", q > 0 ? ", " : "", in_quotes(space_.name(q)),
                      column.size() == 1 ? in_quotes(space_.name(column[0].first)) : table(column));
    }
    text_ += " }\n";
  }
  void write(const Shuffle& shuffle) {
    if (space_.degree() > static_cast<std::size_t>(kMaxPoints))
      wrong_use("shuffles can be written for at most {} variables, not {}", kMaxPoints,
                space_.degree());
    text_ += "shuffle = \"";
    for (std::size_t k = 0; k < shuffle.outcomes.size(); ++k) {
      const Permutation s = to_permutation(shuffle.outcomes[k]);
      const Permutation p = shuffle.acts == Acts::kValues ? s.inverse() : s;
      text_ +=
          fmt::format("{}{} {}", k > 0 ? ", " : "", to_string(shuffle.weights[k]), p.to_cycles());
    }
    text_ += "\"\n";
    if (shuffle.acts == Acts::kValues) text_ += "acts = \"values\"\n";
  }
  void write(const Reset& reset) { text_ += "reset = " + distribution(reset.prior) + "\n"; }

  const StateSpace& space_;
  std::string text_;
};

}  // namespace

std::string write_automaton(const Automaton& automaton, const std::vector<SymbolId>& word) {
  return Writer(automaton.space()).write(automaton, word);
}

}  // namespace shellgame
