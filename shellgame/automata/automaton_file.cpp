#include "shellgame/automata/automaton_file.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/automata/automaton_numbers.h"
#include "shellgame/tasks/moves.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

// Weights and kernels have an entry for each state: beyond this they are not what is meant.
constexpr std::uint64_t kMostWeights = 1 << 20;

constexpr NumberBounds kVariableBounds = NumberBounds::whole(1, kMostVariables);

class AutomatonReader {
 public:
  explicit AutomatonReader(const std::string& file) : file_(file) {}

  AutomatonFile read(std::string_view text) {
    const toml::table table = parse_toml(text, file_);
    only(table, "an automaton", {"states", "variables", "values", "start", "word", "symbol"});
    read_states(table);
    const toml::node* start = table.get("start");
    if (start == nullptr) wrong(table, "an automaton must have a 'start'");
    Distribution first = distribution(*start, "the start");
    std::vector<Symbol> symbols;
    const toml::node* named = table.get("symbol");
    if (named == nullptr || !named->is_table() || named->as_table()->empty())
      wrong(table, "an automaton must have symbols, each a table [symbol.NAME]");
    // toml++ sorts keys; symbols keep the order in which they are written.
    std::vector<std::pair<toml::source_position, const toml::key*>> order;
    for (const auto& [key, node] : *named->as_table()) order.emplace_back(key.source().begin, &key);
    std::ranges::sort(order, {}, [](const auto& entry) {
      return std::pair(entry.first.line, entry.first.column);
    });
    for (const auto& [position, key] : order)
      symbols.push_back(symbol(std::string(key->str()), *named->as_table()->get(key->str())));
    try {
      Automaton automaton(space_, std::move(first), std::move(symbols));
      std::vector<SymbolId> word = read_word(table, automaton);
      return {std::move(automaton), std::move(word)};
    } catch (const UsageError& error) {
      throw InputError(file_, error.what());
    }
  }

 private:
  std::string place(const toml::source_region& source) const { return toml_place(file_, source); }
  template <class... Args>
  [[noreturn]] void wrong(const toml::node& node, fmt::format_string<Args...> format,
                          Args&&... args) const {
    throw InputError(place(node.source()), fmt::format(format, std::forward<Args>(args)...));
  }

  void only(const toml::table& table, const std::string& what,
            const std::vector<std::string>& keys) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::ranges::find(keys, name) != keys.end()) continue;
      const std::string near = nearest_name(name, keys);
      throw InputError(place(key.source()),
                       fmt::format("{} has no key '{}'{}", what, name,
                                   near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }

  std::string text_of(const toml::node& node, const std::string& what) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    wrong(node, "{} must be a name", what);
  }

  std::vector<std::string> texts(const toml::node& node, const std::string& what) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) wrong(node, "{} must be a list of names", what);
    std::vector<std::string> result;
    for (const toml::node& item : *array) result.push_back(text_of(item, what));
    return result;
  }

  void read_states(const toml::table& table) {
    const toml::node* states = table.get("states");
    const toml::node* variables = table.get("variables");
    if ((states == nullptr) == (variables == nullptr)) {
      wrong(table,
            "an automaton must have either 'states' (their names) or 'variables' (all "
            "orders of their values)");
    }
    const toml::node& node = states != nullptr ? *states : *variables;
    try {
      if (states != nullptr) {
        std::vector<std::string> names = texts(node, "states");
        if (std::ranges::find(names, "uniform") != names.end())
          wrong(node, "states must not be called 'uniform', which is a distribution");
        if (const toml::node* values = table.get("values"))
          wrong(*values, "values belong to variables, and this automaton lists its states");
        space_ = StateSpace::listed(std::move(names));
        return;
      }
      std::vector<std::string> names =
          node.is_integer() ? std::vector<std::string>() : texts(node, "variables");
      if (node.is_integer()) {
        const auto n = kVariableBounds.parse<std::size_t>("variables, if not a list of names,",
                                                          std::to_string(node.as_integer()->get()));
        for (std::size_t v = 0; v < n; ++v) names.push_back(scheme_variable(v));
      }
      std::vector<Value> values;
      if (const toml::node* given = table.get("values")) {
        const toml::array* array = given->as_array();
        if (array == nullptr || array->size() != names.size())
          wrong(*given, "values must be a list with one value for each of {} variables",
                names.size());
        for (const toml::node& item : *array) {
          values.push_back({text_of(item, "values"), item.is_string()});
          if (item.is_string() && !is_value_string(values.back().text))
            wrong(item,
                  "a value must be a whole number or a text of a-z, 0-9, '_' and '-', not '{}'",
                  values.back().text);
        }
      } else {
        for (std::size_t v = 0; v < names.size(); ++v)
          values.push_back({std::to_string(v + 1), false});
      }
      const auto known = std::make_shared<Names>(names, values);
      // Lists such as a start mean the order of the names: it must be the one that is written.
      for (std::size_t v = 0; v < names.size(); ++v) {
        if (known->variable(v) != names[v])
          wrong(node, "variables must be in their order, and '{}' comes before '{}'",
                known->variable(v), names[v]);
        if (known->value(v) != values[v])
          wrong(node,
                "values must be in their order (numbers by size, then texts), and '{}' comes "
                "before '{}'",
                known->value(v).text, values[v].text);
      }
      space_ = StateSpace::orders(known);
    } catch (const UsageError& error) {
      wrong(node, "{}", error.what());
    }
  }

  Rational number(const toml::node& node, const std::string& what) const {
    try {
      if (const auto* text = node.as_string()) return parse_rational(text->get());
      if (const auto* whole = node.as_integer())
        return parse_rational(std::to_string(whole->get()));
      if (const auto* real = node.as_floating_point()) return rational_from(real->get());
    } catch (const UsageError& error) {
      wrong(node, "{}: {}", what, error.what());
    }
    wrong(node, "{} must be a number or a fraction such as \"1/3\"", what);
  }

  StateId state(const std::string& name, const toml::node& node, const std::string& what) const {
    if (const auto found = space_.find(name)) return *found;
    std::vector<std::string> names;
    for (StateId q = 0; q < space_.size() && q < 1000; ++q) names.push_back(space_.name(q));
    const std::string near = nearest_name(name, names);
    wrong(node, "{} must name a state, not '{}'{}", what, name,
          near.empty() ? "" : "; did you mean '" + near + "'?");
  }

  VariableId variable(std::string_view name, const toml::node& node,
                      const std::string& what) const {
    if (const auto found = space_.names().find_variable(name)) return *found;
    wrong(node, "{} must name a variable, not '{}'", what, name);
  }

  ValueId value(const toml::node& node, const std::string& what) const {
    const std::string text = text_of(node, what);
    if (const auto found = space_.names().find_value({text, node.is_string()})) return *found;
    wrong(node, "{} must name a value, not '{}'", what, text);
  }

  // "uniform", a state, { state = probability }, or for orders a value for each variable, [2, 1,
  // 3].
  Distribution distribution(const toml::node& node, const std::string& what) const {
    Distribution result;
    if (node.is_string() && node.as_string()->get() == "uniform") {
      if (space_.is_orders()) {
        ShuffledValues all;
        for (std::size_t v = 0; v < space_.degree(); ++v) {
          all.variables.push_back(static_cast<VariableId>(v));
          all.values.push_back(static_cast<ValueId>(v));
        }
        result.groups.push_back(std::move(all));
      } else {
        for (StateId q = 0; q < space_.size(); ++q)
          result.states.emplace_back(q, Rational(1, static_cast<unsigned long>(space_.size())));
      }
    } else if (node.is_string()) {
      result.states.emplace_back(state(node.as_string()->get(), node, what), 1);
    } else if (node.is_array() && space_.is_orders()) {
      const toml::array& values = *node.as_array();
      for (std::size_t v = 0; v < values.size(); ++v) {
        result.groups.push_back({{static_cast<VariableId>(v)}, {value(*values.get(v), what)}});
      }
    } else if (const toml::table* table = node.as_table()) {
      for (const auto& [key, weight] : *table) {
        result.states.emplace_back(state(std::string(key.str()), weight, what),
                                   number(weight, what));
      }
      std::ranges::sort(result.states, {}, [](const auto& entry) { return entry.first; });
    } else {
      wrong(node, "{} must be a state, a table of states with probabilities, or \"uniform\"", what);
    }
    return result;
  }

  Symbol symbol(const std::string& name, const toml::node& node) const {
    const std::string what = fmt::format("symbol '{}'", name);
    const toml::table* table = node.as_table();
    if (table == nullptr) wrong(node, "{} must be a table", what);
    only(*table, what, {"reveal", "likelihood", "policy", "next", "shuffle", "acts", "reset"});
    Symbol result;
    result.name = name;
    const toml::node *reveal = table->get("reveal"), *soft = table->get("likelihood");
    if (reveal != nullptr && soft != nullptr)
      wrong(*soft, "{} must have a reveal or a likelihood, not both", what);
    if (reveal != nullptr) result.reveal = read_reveal(*reveal, what);
    if (soft != nullptr) result.reveal = StateWeights{weights(*soft, what + ": the likelihood")};
    const toml::node* policy = table->get("policy");
    if (policy != nullptr && soft != nullptr)
      wrong(*policy, "{} must have a likelihood or a policy, not both", what);
    if (policy != nullptr) result.policy = weights(*policy, what + ": the policy");
    const toml::node *next = table->get("next"), *shuffle = table->get("shuffle"),
                     *reset = table->get("reset");
    if ((next != nullptr) + (shuffle != nullptr) + (reset != nullptr) > 1)
      wrong(node, "{} must have one of next, shuffle and reset, not several", what);
    if (next != nullptr) result.transition = read_kernel(*next, what);
    if (shuffle != nullptr) result.transition = read_shuffle(*shuffle, table->get("acts"), what);
    if (reset != nullptr) result.transition = Reset{distribution(*reset, what + ": the reset")};
    if (shuffle == nullptr && table->contains("acts"))
      wrong(*table->get("acts"), "{}: acts needs a shuffle", what);
    return result;
  }

  Reveal read_reveal(const toml::node& node, const std::string& what) const {
    if (const toml::table* table = node.as_table()) {
      if (!space_.is_orders())
        wrong(node, "{}: the reveal must be a list of states, since there are no variables", what);
      Cells cells;
      for (const auto& [key, values] : *table) {
        Cell cell;
        cell.variable = variable(key.str(), values, what + ": the reveal");
        if (const toml::array* array = values.as_array()) {
          for (const toml::node& item : *array)
            cell.values.push_back(value(item, what + ": the reveal"));
          std::ranges::sort(cell.values);
          cell.values.erase(std::unique(cell.values.begin(), cell.values.end()), cell.values.end());
        } else {
          cell.values.push_back(value(values, what + ": the reveal"));
        }
        cells.cells.push_back(std::move(cell));
      }
      return cells;
    }
    StateSet set;
    for (const std::string& name :
         node.is_string() ? std::vector{text_of(node, what)} : texts(node, what + ": the reveal"))
      set.states.push_back(state(name, node, what + ": the reveal"));
    std::ranges::sort(set.states);
    return set;
  }

  std::vector<Rational> weights(const toml::node& node, const std::string& what) const {
    if (space_.size() > kMostWeights)
      wrong(node, "{} can be given for at most {} states, not {}", what, kMostWeights,
            space_.size());
    std::vector<Rational> result(space_.size());
    if (const toml::table* table = node.as_table()) {
      for (const auto& [key, weight] : *table) {
        const std::string name(key.str());
        result[state(name, weight, what)] = number(weight, what);
      }
    } else {
      std::ranges::fill(result, number(node, what));
    }
    return result;
  }

  Kernel read_kernel(const toml::node& node, const std::string& what) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      wrong(node, "{}: next must be a table from each state to a state or a distribution", what);
    if (space_.size() > kMostWeights)
      wrong(node, "{}: next can be given for at most {} states, not {}", what, kMostWeights,
            space_.size());
    Kernel kernel;
    for (const auto& [key, column] : *table)
      state(std::string(key.str()), column, what + ": next");  // every name known
    for (StateId q = 0; q < space_.size(); ++q) {
      kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
      const std::string name = space_.name(q);
      const toml::node* column = table->get(name);
      if (column == nullptr) {
        wrong(node, "{}, state '{}': the column must sum to 1, and next does not name the state",
              what, name);
      }
      const std::string here = fmt::format("{}, state '{}': the column", what, name);
      const Distribution to =
          column->is_integer()
              ? Distribution{{{state(text_of(*column, here), *column, here), 1}}, {}}
              : distribution(*column, here);
      Rational sum;
      for (const auto& [target, weight] : expand(space_, to)) {
        kernel.targets.push_back(target);
        kernel.weights.push_back(weight);
        sum += weight;
      }
      if (sum != 1) wrong(*column, "{} must sum to 1, not {}", here, to_string(sum));
    }
    kernel.offsets.push_back(static_cast<std::uint32_t>(kernel.targets.size()));
    return kernel;
  }

  // "(1 2)", or a mixture "1/2 (1 2), 1/2 (1 3)"; the points are the variables or values in order.
  Shuffle read_shuffle(const toml::node& node, const toml::node* acts,
                       const std::string& what) const {
    if (!space_.is_orders() || space_.degree() > static_cast<std::size_t>(kMaxPoints))
      wrong(node, "{}: a shuffle needs from 1 to {} variables", what, kMaxPoints);
    if (!node.is_string())
      wrong(node, "{}: shuffle must be a text such as \"1/2 (), 1/2 (1 2)\"", what);
    Shuffle shuffle;
    if (acts != nullptr) {
      const std::string word = text_of(*acts, what + ": acts");
      if (word != "positions" && word != "values")
        wrong(*acts, "{}: acts must be positions or values, not '{}'", what, word);
      if (word == "values") shuffle.acts = Acts::kValues;
    }
    const std::string& text = node.as_string()->get();
    for (std::size_t at = 0; at < text.size();) {
      std::size_t stop = at;
      for (int depth = 0; stop < text.size() && (depth > 0 || text[stop] != ','); ++stop)
        depth += text[stop] == '(' ? 1 : text[stop] == ')' ? -1 : 0;
      const std::string part = text.substr(at, stop - at);
      at = stop + 1;
      const std::size_t bracket = part.find('(');
      if (bracket == std::string::npos)
        wrong(node, "{}: each part of a shuffle must have cycles such as (1 2), not '{}'", what,
              part);
      std::string weight = part.substr(0, bracket);
      std::erase(weight, ' ');
      try {
        std::string cycles = part.substr(bracket);
        while (cycles.ends_with(' ')) cycles.pop_back();
        const Permutation p = Permutation::from_cycles(cycles);
        if (static_cast<std::size_t>(p.moved_points()) > space_.degree())
          wrong_use("the cycles must stay within {} points, not '{}'", space_.degree(), cycles);
        shuffle.weights.push_back(weight.empty() ? Rational(1) : parse_rational(weight));
        // A value moves along its cycle; a variable takes the value of the next one in its cycle.
        shuffle.outcomes.push_back(
            full_permute(shuffle.acts == Acts::kValues ? p.inverse() : p, space_.degree()));
      } catch (const UsageError& error) {
        wrong(node, "{}: {}", what, error.what());
      }
    }
    return shuffle;
  }

  std::vector<SymbolId> read_word(const toml::table& table, const Automaton& automaton) const {
    std::vector<SymbolId> word;
    const toml::node* node = table.get("word");
    if (node == nullptr) return word;
    for (const std::string& name : texts(*node, "word")) {
      const auto found = automaton.find_symbol(name);
      if (!found) {
        std::vector<std::string> names;
        for (const Symbol& symbol : automaton.symbols()) names.push_back(symbol.name);
        const std::string near = nearest_name(name, names);
        wrong(*node, "the word must be made of symbols, not '{}'{}", name,
              near.empty() ? "" : "; did you mean '" + near + "'?");
      }
      word.push_back(*found);
    }
    return word;
  }

  const std::string& file_;
  StateSpace space_ = StateSpace::listed({"none"});
};

}  // namespace

std::vector<DeclaredNumber> automaton_numbers() { return {{"variables", kVariableBounds}}; }

AutomatonFile parse_automaton(std::string_view text, const std::string& file) {
  try {
    return AutomatonReader(file).read(text);
  } catch (const UsageError& error) {
    throw InputError(file, error.what());
  }
}

}  // namespace shellgame
