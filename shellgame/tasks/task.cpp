#include "shellgame/tasks/task.h"

#include <algorithm>
#include <charconv>

#include "shellgame/groups/group.h"
#include "shellgame/tasks/moves.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// n of "Sn", or 0.
std::size_t symmetric_degree(const std::string& group) {
  std::size_t n = 0;
  if (group.size() < 2 || group[0] != 'S' || group[1] == '0') return 0;
  const auto [end, error] = std::from_chars(group.data() + 1, group.data() + group.size(), n);
  return error == std::errc() && end == group.data() + group.size() ? n : 0;
}

}  // namespace

std::size_t group_degree(const std::string& group) {
  const std::size_t n = symmetric_degree(group);
  if (n > static_cast<std::size_t>(kMaxPoints)) {
    if (n > kMostVariables)
      wrong_use("a symmetric group must have at most {} points, not {}", kMostVariables, n);
    return n;
  }
  return static_cast<std::size_t>(parse_group(group).degree());
}

void check_task(const Task& task) {
  const std::size_t n = group_degree(task.group);
  if (task.branching && task.skipped) {
    wrong_use("uncertainty must be branching or skipped, not both: a command has one form");
  }
  if (task.skipped && task.condition == Condition::kEnvironment) {
    wrong_use(
        "condition must be random or external with uncertainty = skipped: a function that reads "
        "one environment "
        "variable would do the same at every call");
  }
  if (task.unknown_start && task.condition == Condition::kEnvironment && !task.branching) {
    wrong_use(
        "condition must be random or external with uncertainty = unknown-start: an environment "
        "variable does not "
        "show the values that are shuffled");
  }
  if (n > static_cast<std::size_t>(kMaxPoints) && task.moves == Moves::kGenerators) {
    wrong_use(
        "moves must be permutations or swaps for {}: generators are kept for groups on at most {} "
        "points",
        task.group, kMaxPoints);
  }
  if (task.reveal_count > n) {
    wrong_use("reveal-count must be at most the number of variables, {}, not {}", n,
              task.reveal_count);
  }
  if (const auto i = scheme_index(task.reveal_variable);
      task.reveals == Reveals::kFixed && (!i || *i >= n)) {
    wrong_use("reveal-variable must be one of the {} variables of {}, not '{}'", n, task.group,
              task.reveal_variable);
  }
  if (task.sticky_share > 0 && task.reveals == Reveals::kNone) {
    wrong_use("sticky-share needs reveals: a run shows a variable after every cycle");
  }
  if (!task.values.empty() && task.values.size() != n) {
    wrong_use("values must name {} strings, one for each variable of {}, not {}", n, task.group,
              task.values.size());
  }
  for (const std::string& text : task.mixtures) parse_mixture(text, n, task.condition);
  for (std::size_t i = 0; i + 1 < task.stages.size(); ++i) {
    if (task.stages[i].traces == 0)
      wrong_use("stages must give TRACES for every stage but the last");
  }
  if (!task.mixtures.empty() && !task.branching && !task.skipped) {
    wrong_use("mixtures need uncertainty = branching or skipped, since their outcome is hidden");
  }
}

Stage stage_of(const Task& task, std::uint64_t index) {
  if (task.stages.empty()) return {task.commands, task.spacing, 0};
  for (const Stage& stage : task.stages) {
    if (stage.traces == 0 || index < stage.traces) return stage;
    index -= stage.traces;
  }
  return task.stages.back();
}

}  // namespace shellgame
