#include "shellgame/tasks/moves.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// The variables that a permutation moves, as an assignment of those alone.
Permute moved_permute(const Permutation& permutation) {
  Permute permute;
  const auto moved = static_cast<std::size_t>(permutation.moved_points());
  for (std::size_t v = 0; v < moved; ++v) {
    const auto source = static_cast<VariableId>(permutation.image(static_cast<int>(v)));
    if (source == v) continue;
    permute.targets.push_back(static_cast<VariableId>(v));
    permute.sources.push_back(source);
  }
  return permute;
}

// source_of[v] for every variable.
std::vector<VariableId> source_map(const Permute& permute, std::size_t n) {
  std::vector<VariableId> map(n);
  std::iota(map.begin(), map.end(), VariableId{0});
  for (std::size_t k = 0; k < permute.targets.size(); ++k)
    map[permute.targets[k]] = permute.sources[k];
  return map;
}

// The moved variables cycle by cycle, short cycles first: the order that makes all moves of one
// cycle type alike.
std::vector<VariableId> by_cycles(const std::vector<VariableId>& map) {
  std::vector<std::vector<VariableId>> cycles;
  std::vector<bool> seen(map.size());
  for (VariableId v = 0; v < map.size(); ++v) {
    if (seen[v] || map[v] == v) continue;
    cycles.emplace_back();
    for (VariableId at = v; !seen[at]; at = map[at]) {
      seen[at] = true;
      cycles.back().push_back(at);
    }
  }
  std::ranges::stable_sort(cycles, {}, [](const auto& cycle) { return cycle.size(); });
  std::vector<VariableId> order;
  for (const auto& cycle : cycles) order.insert(order.end(), cycle.begin(), cycle.end());
  return order;
}

}  // namespace

Permute full_permute(const Permutation& permutation, std::size_t n) {
  Permute permute;
  for (std::size_t v = 0; v < n; ++v) {
    permute.targets.push_back(static_cast<VariableId>(v));
    permute.sources.push_back(static_cast<VariableId>(permutation.image(static_cast<int>(v))));
  }
  return permute;
}

Permute swap_permute(VariableId i, VariableId j) { return {{i, j}, {j, i}}; }

Mixture parse_mixture(const std::string& text, std::size_t n, Condition source) {
  struct Part {
    double weight;
    Permute outcome;
  };
  std::vector<Part> parts;
  std::size_t at = 0;
  const auto skip_blanks = [&] { at = std::min(text.find_first_not_of(' ', at), text.size()); };
  for (skip_blanks(); at < text.size(); skip_blanks()) {
    double weight = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), weight);
    if (error != std::errc() || !(weight > 0 && weight <= 1)) {
      wrong_use(
          "a mixture must be weights above 0 with cycles, such as '0.5 (1 2), 0.5 (1 3)', not '{}'",
          text);
    }
    at = static_cast<std::size_t>(end - text.data());
    // The cycles go on to the next comma outside brackets.
    std::size_t stop = at;
    for (int depth = 0; stop < text.size() && (depth > 0 || text[stop] != ','); ++stop) {
      depth += text[stop] == '(' ? 1 : text[stop] == ')' ? -1 : 0;
    }
    std::size_t first = std::min(text.find_first_not_of(' ', at), stop), last = stop;
    while (last > first && text[last - 1] == ' ') --last;
    const Permutation permutation = Permutation::from_cycles(text.substr(first, last - first));
    if (static_cast<std::size_t>(permutation.moved_points()) > n) {
      wrong_use("a mixture's cycles must stay within the {} variables, not '{}'", n,
                text.substr(first, last - first));
    }
    parts.push_back({weight, moved_permute(permutation)});
    at = stop < text.size() ? stop + 1 : stop;
    if (parts.size() > 64) wrong_use("a mixture must have at most 64 outcomes");
  }
  double sum = 0;
  for (const Part& part : parts) sum += part.weight;
  if (parts.size() < 2 || std::abs(sum - 1) > 1e-9) {
    wrong_use("a mixture must have at least two outcomes whose weights sum to 1, not '{}' (sum {})",
              text, sum);
  }
  std::stable_partition(parts.begin(), parts.end(),
                        [](const Part& part) { return !part.outcome.is_pass(); });
  Mixture mixture;
  mixture.source = source;
  sum = 0;
  for (const Part& part : parts) {
    sum += part.weight;
    mixture.outcomes.push_back(part.outcome);
    // Rounded to 12 places, so that 0.1 + 0.2 is shown as 0.3.
    if (mixture.outcomes.size() < parts.size())
      mixture.thresholds.push_back(std::round(sum * 1e12) / 1e12);
  }
  if (std::ranges::adjacent_find(mixture.thresholds, std::greater_equal<>()) !=
      mixture.thresholds.end()) {
    wrong_use("a mixture's weights must each be at least 1e-12, not '{}'", text);
  }
  return mixture;
}

SkippedCall make_skipped(const Mixture& mixture, std::size_t n) {
  SkippedCall call;
  if (mixture.outcomes.size() == 2 && mixture.outcomes[1].is_pass()) {
    call.arguments = by_cycles(source_map(mixture.outcomes[0], n));
  } else {
    std::vector<bool> moved(n);
    for (const Permute& outcome : mixture.outcomes) {
      for (VariableId v : outcome.targets) moved[v] = true;
    }
    for (VariableId v = 0; v < n; ++v) {
      if (moved[v]) call.arguments.push_back(v);
    }
  }
  if (call.arguments
          .empty()) {  // the identity against the identity: a function must have arguments
    call.arguments.resize(n);
    std::iota(call.arguments.begin(), call.arguments.end(), VariableId{0});
  }
  std::vector<VariableId> parameter_of(n);
  for (std::size_t k = 0; k < call.arguments.size(); ++k) {
    parameter_of[call.arguments[k]] = static_cast<VariableId>(k);
  }
  Definition& definition = call.definition;
  definition.arity = static_cast<std::uint16_t>(call.arguments.size());
  definition.mixture.source = mixture.source;
  definition.mixture.thresholds = mixture.thresholds;
  for (const Permute& outcome : mixture.outcomes) {
    const std::vector<VariableId> map = source_map(outcome, n);
    Permute parameters;
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      parameters.targets.push_back(static_cast<VariableId>(k));
      parameters.sources.push_back(parameter_of[map[call.arguments[k]]]);
    }
    definition.mixture.outcomes.push_back(std::move(parameters));
  }
  return call;
}

MoveSet::MoveSet(const Task& task) : n_(group_degree(task.group)), moves_(task.moves) {
  auto table = std::make_shared<CommandTable>();
  const bool packed = n_ <= static_cast<std::size_t>(kMaxPoints);
  if (packed) group_ = parse_group(task.group);
  if (moves_ == Moves::kGenerators) {
    for (const Permutation& generator : group_->generators()) {
      table->permutes.push_back(full_permute(generator, n_));
    }
    if (table->permutes.empty())
      wrong_use("moves = generators needs a group with generators, not {}", task.group);
  } else if (moves_ == Moves::kSwaps) {
    const std::uint64_t pairs = n_ * (n_ - 1) / 2;
    if (pairs == 0)
      wrong_use("moves = swaps needs at least two variables, and {} has {}", task.group, n_);
    const bool all = !packed || group_->order() == factorial(static_cast<int>(n_));
    for (VariableId i = 0; i < n_ && (pairs <= kMostListed || !all); ++i) {
      for (auto j = static_cast<VariableId>(i + 1); j < n_; ++j) {
        const std::string cycle = fmt::format("({} {})", i + 1, j + 1);
        if (!all && !group_->contains(Permutation::from_cycles(cycle))) continue;
        table->permutes.push_back(swap_permute(i, j));
      }
    }
    if (table->permutes.empty() && !all) {
      wrong_use(
          "moves = swaps needs a group that holds a swap of two points; {} has none: use "
          "permutations or "
          "generators",
          task.group);
    }
  } else if (packed && group_->order() <= kMostListed) {
    for (const Permutation& element : group_->elements())
      table->permutes.push_back(full_permute(element, n_));
  }
  listed_ = !table->permutes.empty();
  count_ = static_cast<std::uint32_t>(table->permutes.size());
  if (task.branching && task.otherwise == Otherwise::kIdentity) {
    // All moves with the first probability, then all with the next.
    for (const double probability : task.probabilities) {
      for (const Permute& permute : table->permutes)
        table->mixtures.push_back({task.condition, {probability}, {permute, {}}});
    }
  }
  table_ = std::move(table);
}

Permute MoveSet::draw(RandomStream& stream) const {
  if (listed_) return table_->permutes[draw_index(stream)];
  if (moves_ == Moves::kSwaps) {
    const auto i = static_cast<VariableId>(stream.below(static_cast<std::uint32_t>(n_)));
    auto j = static_cast<VariableId>(stream.below(static_cast<std::uint32_t>(n_ - 1)));
    if (j >= i) ++j;
    return swap_permute(std::min(i, j), std::max(i, j));
  }
  if (group_) return full_permute(group_->sample(stream), n_);
  Permute permute;
  permute.targets.resize(n_);
  std::iota(permute.targets.begin(), permute.targets.end(), VariableId{0});
  permute.sources = permute.targets;
  for (std::size_t k = n_; k > 1; --k) {
    std::swap(permute.sources[k - 1], permute.sources[stream.below(static_cast<std::uint32_t>(k))]);
  }
  return permute;
}

}  // namespace shellgame
