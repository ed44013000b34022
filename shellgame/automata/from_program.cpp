#include "shellgame/automata/from_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shellgame/programs/render.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Probabilities as they are written in the text: differences of the thresholds' decimals.
std::vector<Rational> weights_of(const Mixture& mixture) {
  std::vector<Rational> weights;
  Rational before;
  for (double threshold : mixture.thresholds) {
    const Rational now = rational_from(threshold);
    weights.push_back(now - before);
    before = now;
  }
  weights.push_back(Rational(1) - before);
  return weights;
}

Transition shuffle_of(const Mixture& mixture, std::span<const VariableId> arguments) {
  Shuffle shuffle;
  shuffle.weights = weights_of(mixture);
  for (const Permute& outcome : mixture.outcomes) {
    Permute& mapped = shuffle.outcomes.emplace_back(outcome);
    if (arguments.empty()) continue;
    for (VariableId& v : mapped.targets) v = arguments[v];
    for (VariableId& v : mapped.sources) v = arguments[v];
  }
  return shuffle;
}

Symbol symbol_of(const Program& program, const Event& event) {
  Symbol symbol;
  const std::size_t n = program.names().size();
  switch (event.kind) {
    case EventKind::kPermute:
      symbol.transition = Shuffle{{program.table().permutes[event.at]}, {1}, Acts::kPositions};
      break;
    case EventKind::kChoose:
      symbol.transition = shuffle_of(program.table().mixtures[event.at], {});
      break;
    case EventKind::kCall:
      symbol.transition = shuffle_of(program.definition(event).mixture, program.variables(event));
      break;
    case EventKind::kPrint: {
      Cells cells;
      const auto variables = program.variables(event);
      const auto values = program.values(event);
      for (std::size_t k = 0; k < variables.size(); ++k)
        cells.cells.push_back({variables[k], {values[k]}});
      symbol.reveal = std::move(cells);
      break;
    }
    case EventKind::kAssert: {
      const auto values = program.values(event);
      Cell cell{program.variables(event)[0], {values.begin(), values.end()}};
      std::ranges::sort(cell.values);
      cell.values.erase(std::unique(cell.values.begin(), cell.values.end()), cell.values.end());
      if (static_cast<Relation>(event.form) == Relation::kUnequal) {
        std::vector<ValueId> rest;
        for (ValueId v = 0; v < n; ++v) {
          if (!std::ranges::binary_search(cell.values, v)) rest.push_back(v);
        }
        cell.values = std::move(rest);
      }
      if (cell.values.empty())
        wrong_use("an assert must leave some value of the variable '{}' possible",
                  program.names().variable(cell.variable));
      symbol.reveal = Cells{{std::move(cell)}};
      break;
    }
    default:
      break;
  }
  return symbol;
}

bool is_split(const Event& event, Prints prints) {
  return event.kind == EventKind::kPrint && event.count > 1 && prints == Prints::kByVariable;
}

Distribution start_of(const Program& program) {
  Distribution start;
  bool begun = false;
  for (const Event& event : program.events()) {
    begun = begun || is_command(event.kind) || event.kind == EventKind::kPrint ||
            event.kind == EventKind::kAssert;
    if (event.kind != EventKind::kAssign && event.kind != EventKind::kStart) continue;
    const auto variables = program.variables(event);
    const auto values = program.values(event);
    if (begun) {
      wrong_use("variables must be assigned before the first command, and '{}' is assigned later",
                program.names().variable(variables[0]));
    }
    start.groups.push_back({{variables.begin(), variables.end()}, {values.begin(), values.end()}});
  }
  return start;
}

}  // namespace

std::string symbol_name(const Program& program, const Event& event, std::size_t part,
                        Prints prints) {
  std::string text;
  std::uint64_t environment = program.environment_before();
  render_event(program, event, environment, text);
  while (text.ends_with('\n')) text.pop_back();
  if (text.starts_with(kPrompt)) text.erase(0, kPrompt.size());
  if (!is_split(event, prints)) return text;
  const auto variables = program.variables(event);
  const auto before = variables.first(part);
  text += fmt::format(" [{}", program.names().variable(variables[part]));
  if (std::ranges::find(before, variables[part]) != before.end())
    text += fmt::format(", place {}", part + 1);
  return text + "]";
}

ProgramWord word_of(const Program& program, Prints prints) {
  std::vector<Symbol> symbols;
  std::vector<SymbolId> word;
  std::vector<std::uint32_t> events;
  std::map<std::string, SymbolId> known;
  for (std::uint32_t i = 0; i < program.events().size(); ++i) {
    const Event& event = program.events()[i];
    if (!is_command(event.kind) && event.kind != EventKind::kPrint &&
        event.kind != EventKind::kAssert)
      continue;
    const bool split = is_split(event, prints);
    for (std::uint16_t part = 0; part < (split ? event.count : 1); ++part) {
      // Events of the same text are the same symbol, wherever the table has them.
      std::string name = symbol_name(program, event, part, prints);
      const auto [place, is_new] = known.emplace(name, static_cast<SymbolId>(symbols.size()));
      if (is_new) {
        Symbol symbol = symbol_of(program, event);
        symbol.name = std::move(name);
        if (split) {
          auto& cells = std::get<Cells>(symbol.reveal).cells;
          cells = {cells[part]};
        }
        symbols.push_back(std::move(symbol));
      }
      word.push_back(place->second);
      events.push_back(i);
    }
  }
  return {
      Automaton(StateSpace::orders(program.shared_names()), start_of(program), std::move(symbols)),
      std::move(word), std::move(events)};
}

Automaton automaton_of(const Sampler& sampler) {
  const Task& task = sampler.task();
  const auto& table = *sampler.shared_table();
  if (table.permutes.empty() && table.mixtures.empty()) {
    wrong_use(
        "an automaton of a whole task needs commands that can be listed: a small group, no skipped "
        "functions and no slips of two drawn moves; give a trace instead");
  }
  // One program that says everything once; its automaton has all symbols.
  Program program(sampler.names(), sampler.shared_table());
  Program sample;  // of its start, and of no more commands than one
  ProgramStream(sampler, 0, 0).next(sample, 1);
  for (const Event& event : sample.events()) {
    if (event.kind == EventKind::kAssign)
      program.add_assign(sample.variables(event)[0], sample.values(event)[0]);
    if (event.kind == EventKind::kStart)
      program.add_start(static_cast<Condition>(event.form), sample.variables(event),
                        sample.values(event));
  }
  const bool hidden = task.branching || task.skipped;
  if (!hidden || task.uncertain_share < 1) {
    for (std::uint32_t k = 0; k < table.permutes.size(); ++k) program.add_permute(k);
  }
  if (hidden) {
    for (std::uint32_t k = 0; k < table.mixtures.size(); ++k) program.add_choose(k);
  }
  const std::size_t n = sampler.names()->size();
  for (VariableId v = 0; v < n; ++v) {
    for (ValueId value = 0; value < n; ++value) {
      for (RevealForm form : task.reveal_forms) {
        if (form == RevealForm::kPrint)
          program.add_print(true, std::span(&v, 1), std::span(&value, 1));
        if (form == RevealForm::kEqual || form == RevealForm::kUnequal)
          program.add_assert(Relation::kEqual, v, std::span(&value, 1));
        if (form == RevealForm::kUnequal && n > 1)
          program.add_assert(Relation::kUnequal, v, std::span(&value, 1));
      }
    }
    if (std::ranges::find(task.reveal_forms, RevealForm::kMember) == task.reveal_forms.end())
      continue;
    if (n > 10) wrong_use("asserts with 'in' can be listed for at most 10 variables, not {}", n);
    for (std::uint32_t set = 1; set + 1 < (1u << n); ++set) {
      std::vector<ValueId> values;
      for (ValueId value = 0; value < n; ++value) {
        if ((set >> value) & 1) values.push_back(value);
      }
      program.add_assert(Relation::kIn, v, values);
    }
  }
  return word_of(program).automaton;
}

}  // namespace shellgame
