#include "tests/support/program_generator.h"

#include <algorithm>
#include <set>

#include "shellgame/programs/execute.h"

namespace shellgame {
namespace {

template <class T>
T draw(rc::Gen<T> gen) {
  return *gen;
}

int between(int low, int high) { return draw(rc::gen::inRange(low, high + 1)); }
bool coin() { return between(0, 1) == 1; }

template <class T>
void shuffle(std::vector<T>& items) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(between(0, static_cast<int>(i) - 1))]);
  }
}

std::shared_ptr<const Names> names() {
  const auto n = static_cast<std::size_t>(coin() ? between(1, 6) : between(1, 40));
  if (between(0, 2) > 0) return std::make_shared<Names>(Names::standard(n));
  std::vector<std::string> variables;
  std::vector<Value> values;
  const bool own_names = coin();
  for (std::size_t i = 0; i < n; ++i) {
    variables.push_back(own_names ? "cup_" + std::to_string(i) : scheme_variable(i));
    if (coin()) {
      values.push_back({std::to_string(between(-50, 50) * 100 + static_cast<int>(i)), false});
    } else {
      values.push_back(
          {"v-" + std::string(1, static_cast<char>('a' + between(0, 25))) + std::to_string(i),
           true});
    }
  }
  return std::make_shared<Names>(variables, values);
}

std::vector<VariableId> some_variables(std::size_t n, std::size_t least) {
  std::vector<VariableId> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<VariableId>(i);
  shuffle(all);
  all.resize(static_cast<std::size_t>(between(static_cast<int>(least), static_cast<int>(n))));
  return all;
}

Permute permute(std::size_t n, bool may_pass) {
  if (may_pass && between(0, 3) == 0) return {};
  Permute result;
  result.targets = some_variables(n, 1);
  result.sources = result.targets;
  shuffle(result.sources);
  return result;
}

std::vector<double> thresholds() {
  std::set<double> set;
  const int count = between(1, 3);
  while (static_cast<int>(set.size()) < count) {
    set.insert(coin() ? between(1, 9) / 10.0 : between(1, 1 << 20) / static_cast<double>(1 << 20));
  }
  return {set.begin(), set.end()};
}

Mixture mixture(std::size_t n, bool environment) {
  Mixture result;
  result.source = static_cast<Condition>(between(0, 2));
  if (!environment && result.source == Condition::kEnvironment) result.source = Condition::kRandom;
  result.thresholds = thresholds();
  for (std::size_t k = 0; k <= result.thresholds.size(); ++k)
    result.outcomes.push_back(permute(n, true));
  return result;
}

Definition definition(std::size_t n) {
  Definition result;
  result.arity =
      static_cast<std::uint16_t>(between(1, static_cast<int>(std::min<std::size_t>(n, 5))));
  result.mixture = mixture(n, false);
  for (Permute& outcome : result.mixture.outcomes) {
    outcome.targets.clear();
    for (std::uint16_t k = 0; k < result.arity; ++k) outcome.targets.push_back(k);
    outcome.sources = outcome.targets;
    shuffle(outcome.sources);
  }
  return result;
}

void add_evidence(Program& program, const State& state, Evidence evidence) {
  const std::size_t n = program.names().size();
  const auto any_value = [&] { return static_cast<ValueId>(between(0, static_cast<int>(n) - 1)); };
  if (coin()) {
    auto variables = some_variables(n, 1);
    if (between(0, 2) == 0) {  // one of them is named again
      variables.push_back(
          variables[static_cast<std::size_t>(between(0, static_cast<int>(variables.size()) - 1))]);
      if (coin()) shuffle(variables);
    }
    std::vector<ValueId> values;
    for (VariableId v : variables)
      values.push_back(evidence == Evidence::kAny && between(0, 4) == 0 ? any_value() : state[v]);
    program.add_print(coin(), variables, values);
    return;
  }
  const auto variable = static_cast<VariableId>(between(0, static_cast<int>(n) - 1));
  std::vector<ValueId> values{state[variable]};
  const auto other = static_cast<ValueId>(between(0, static_cast<int>(n) - 1));
  switch (between(0, 2)) {
    case 0:
      program.add_assert(Relation::kEqual, variable, values);
      break;
    case 1:
      if (other == values[0]) return;
      values[0] = other;
      program.add_assert(Relation::kUnequal, variable, values);
      break;
    default:
      if (other != values[0]) values.push_back(other);
      shuffle(values);
      program.add_assert(Relation::kIn, variable, values);
  }
}

Program build(std::uint32_t python_seed, Evidence evidence) {
  const auto shared_names = names();
  const std::size_t n = shared_names->size();
  auto table = std::make_shared<CommandTable>();
  Program program(shared_names, table);
  for (int i = 0; i < 5; ++i) program.add_import(static_cast<Import>(i));
  std::vector<VariableId> variables(n);
  std::vector<ValueId> values(n);
  for (std::size_t i = 0; i < n; ++i) variables[i] = values[i] = static_cast<VariableId>(i);
  shuffle(values);
  // The order of assignment is free for names of the scheme only: others are numbered by it.
  if (scheme_index(shared_names->variable(0))) shuffle(variables);
  if (coin()) {
    program.add_start(coin() ? Condition::kRandom : Condition::kService, variables, values);
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      if (between(0, 5) == 0) {
        table->definitions.push_back(definition(n));
        program.add_define(static_cast<std::uint32_t>(table->definitions.size() - 1));
      }
      program.add_assign(variables[i], values[i]);
    }
  }
  const int length = between(0, 12);
  for (int i = 0; i < length; ++i) {
    switch (between(0, 5)) {
      case 0:
      case 1:
        table->permutes.push_back(permute(n, false));
        program.add_permute(static_cast<std::uint32_t>(table->permutes.size() - 1));
        break;
      case 2:
        table->mixtures.push_back(mixture(n, true));
        program.add_choose(static_cast<std::uint32_t>(table->mixtures.size() - 1));
        break;
      case 3: {
        if (table->definitions.empty() || coin()) {
          table->definitions.push_back(definition(n));
          program.add_define(static_cast<std::uint32_t>(table->definitions.size() - 1));
        }
        const int chosen = between(0, static_cast<int>(table->definitions.size()) - 1);
        auto arguments = some_variables(n, n);
        arguments.resize(table->definitions[static_cast<std::size_t>(chosen)].arity);
        program.add_call(static_cast<std::uint16_t>(chosen), arguments);
        break;
      }
      default: {
        const Execution execution = execute(program, python_seed);
        add_evidence(program,
                     execution.states.empty() ? execution.initial : execution.states.back(),
                     evidence);
      }
    }
  }
  return program;
}

}  // namespace

rc::Gen<Program> arbitrary_program(std::uint32_t python_seed, Evidence evidence) {
  return rc::gen::exec([=] { return build(python_seed, evidence); });
}

}  // namespace shellgame
