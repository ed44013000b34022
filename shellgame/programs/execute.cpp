#include "shellgame/programs/execute.h"

#include <algorithm>

namespace shellgame {

PythonRandom& HiddenSources::generator(Condition source) {
  const auto lane = static_cast<std::size_t>(source);
  auto& generator = generators_[lane];
  if (!generator) generator = std::make_unique<PythonRandom>((std::uint64_t{lane} << 32) + seed_);
  return *generator;
}

bool evidence_holds(const Program& program, const Event& event, const TrackedState& state) {
  const auto variables = program.variables(event);
  const auto values = program.values(event);
  if (event.kind == EventKind::kPrint) {
    for (std::size_t k = 0; k < variables.size(); ++k) {
      if (state[variables[k]] != values[k]) return false;
    }
    return true;
  }
  const bool found = std::ranges::find(values, state[variables[0]]) != values.end();
  return found != (event.form == static_cast<std::uint8_t>(Relation::kUnequal));
}

Execution execute(const Program& program, std::uint32_t python_seed) {
  Execution result;
  TrackedState state(State(program.names().size(), 0));
  HiddenSources hidden(python_seed);
  bool started = false;
  const auto start = [&] {
    if (!started) state.append_to(result.initial);
    started = true;
  };
  for (std::size_t i = 0; i < program.events().size(); ++i) {
    const Event& event = program.events()[i];
    switch (event.kind) {
      case EventKind::kImport:
      case EventKind::kDefine:
        break;
      case EventKind::kAssign:
        state.set(program.variables(event)[0], program.values(event)[0]);
        break;
      case EventKind::kStart: {
        const auto variables = program.variables(event);
        const auto values = program.values(event);
        const auto order = hidden.shuffle(static_cast<Condition>(event.form), event.count);
        for (std::size_t k = 0; k < variables.size(); ++k)
          state.set(variables[k], values[order[k]]);
        break;
      }
      case EventKind::kPermute:
        start();
        state.apply(program.table().permutes[event.at]);
        break;
      case EventKind::kChoose: {
        start();
        const Mixture& mixture = program.table().mixtures[event.at];
        state.apply(mixture.outcomes[mixture.select(hidden.draw(mixture.source))]);
        break;
      }
      case EventKind::kCall: {
        start();
        const Mixture& mixture = program.definition(event).mixture;
        const Permute& outcome = mixture.outcomes[mixture.select(hidden.draw(mixture.source))];
        state.call(outcome, program.variables(event));
        break;
      }
      case EventKind::kPrint:
      case EventKind::kAssert:
        start();
        if (!result.contradiction && !evidence_holds(program, event, state))
          result.contradiction = i;
        break;
    }
    if (is_command(event.kind)) state.append_to(result.states.emplace_back());
  }
  start();
  return result;
}

bool is_uncertain(const Program& program) {
  return std::ranges::any_of(program.events(), [](const Event& event) {
    return event.kind == EventKind::kChoose || event.kind == EventKind::kCall ||
           event.kind == EventKind::kStart;
  });
}

}  // namespace shellgame
