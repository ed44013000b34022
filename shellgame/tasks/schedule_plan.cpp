#include "shellgame/tasks/schedule_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// All orders of n values, one after the other, by their rank.
std::vector<ValueId> all_orders(std::size_t n) {
  std::vector<ValueId> order(n), all;
  std::iota(order.begin(), order.end(), ValueId{0});
  do {
    all.insert(all.end(), order.begin(), order.end());
  } while (std::ranges::next_permutation(order).found);
  return all;
}

template <class Order>
std::size_t rank_of(const Order& order, std::size_t n) {
  std::size_t rank = 0;
  for (std::size_t v = 0; v < n; ++v) {
    std::size_t smaller = 0;
    for (std::size_t w = v + 1; w < n; ++w) smaller += order[w] < order[v] ? 1u : 0u;
    rank = rank * (n - v) + smaller;
  }
  return rank;
}

// The same statement under other names, its targets in the order of the variables.
Permute renamed(const Permute& permute, const std::vector<VariableId>& naming) {
  std::vector<std::pair<VariableId, VariableId>> pairs;
  for (std::size_t k = 0; k < permute.targets.size(); ++k)
    pairs.emplace_back(naming[permute.targets[k]], naming[permute.sources[k]]);
  std::ranges::sort(pairs);
  Permute result;
  for (const auto& [target, source] : pairs) {
    result.targets.push_back(target);
    result.sources.push_back(source);
  }
  return result;
}

template <class Item>
std::uint32_t index_in(std::vector<Item>& list, const Item& item) {
  const auto at = static_cast<std::size_t>(std::ranges::find(list, item) - list.begin());
  if (at == list.size()) list.push_back(item);
  return static_cast<std::uint32_t>(at);
}

// The variants, each a number for every name.
std::vector<std::vector<double>> all_variants(const Schedule& schedule) {
  constexpr std::size_t kMostVariants = 4096;
  std::vector<std::vector<double>> all(1);
  for (const ScheduleNumbers& one : schedule.variants) {
    std::vector<std::vector<double>> more;
    for (const auto& before : all) {
      for (const double number : one.numbers) {
        more.push_back(before);
        more.back().push_back(number);
      }
      if (more.size() > kMostVariants)
        throw InputError(schedule.file,
                         fmt::format("a schedule must have at most {} variants", kMostVariants));
    }
    all = std::move(more);
  }
  return all;
}

std::vector<std::vector<VariableId>> all_names(const Schedule& schedule) {
  std::vector<VariableId> naming(schedule.variables);
  std::iota(naming.begin(), naming.end(), VariableId{0});
  std::vector<std::vector<VariableId>> all{naming};
  while (schedule.all_namings && std::ranges::next_permutation(naming).found) all.push_back(naming);
  return all;
}

}  // namespace

SchedulePlan::SchedulePlan(Schedule schedule, const ScheduleCell& cell)
    : schedule_(std::move(schedule)), cell_(cell) {
  const ScheduleEnding& ending = schedule_.endings.at(cell.ending);
  names_ = std::make_shared<Names>(Names::standard(schedule_.variables));
  const std::uint64_t steps = saturating_add(count(schedule_.steps), count(ending.steps));
  if (steps > kMostSteps)
    throw InputError(schedule_.file, fmt::format("a trace of a schedule must have at most {} "
                                                 "steps, not {}",
                                                 kMostSteps, steps));
  require_memory(saturating_multiply(steps, std::uint64_t{sizeof(std::uint32_t)}),
                 fmt::format("a schedule of {} steps", steps));
  order_.reserve(steps);
  flatten(schedule_.steps);
  flatten(ending.steps);

  auto table = std::make_shared<CommandTable>();
  const auto variants = all_variants(schedule_);
  const auto namings = all_names(schedule_);
  constexpr std::uint64_t kMostLeaves = 10'000'000;
  if (saturating_multiply<std::uint64_t>(variants.size(), namings.size(), kinds_.size()) >
      kMostLeaves)
    throw InputError(schedule_.file,
                     fmt::format("variants times namings times different steps must be at most {}",
                                 kMostLeaves));
  for (const auto& naming : namings) {
    for (const auto& variant : variants) {
      auto& leaves = leaves_.emplace_back();
      names_of_.push_back(naming);
      for (const ScheduleStep* step : kinds_)
        leaves.push_back(leaf_of(*step, variant, naming, *table));
    }
  }
  table_ = std::move(table);

  bool drawn = schedule_.start.empty();  // something by now
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const Leaf& leaf = leaves_[0][order_[at]];
    drawn = drawn || (leaf.hidden && !leaf.outcome);
    if (leaf.print) {
      shows_early_ = shows_drawn_;
      shows_drawn_ = shows_drawn_ || (drawn && !leaf.shows);
      last_print_ = at;
      marked_ = marked_ || kinds_[order_[at]]->ask;
    } else {
      ++commands_;
      hidden_ = hidden_ || leaf.hidden;
    }
    if (leaf.outcome || leaf.shows) last_forced_ = at + 1;
  }
  forced_ = last_forced_ > 0;
}

std::uint64_t SchedulePlan::traces() const {
  return schedule_.traces > 0 ? schedule_.traces : leaves_.size();
}

bool SchedulePlan::asks(std::size_t at) const {
  if (!leaves_[0][order_[at]].print) return false;
  if (schedule_.ask_all) return true;
  return marked_ ? kinds_[order_[at]]->ask : at == last_print_;
}

bool SchedulePlan::asks_any() const { return last_print_ != SIZE_MAX; }

double SchedulePlan::value_of(const Amount& amount, const std::vector<double>& variant) const {
  if (amount.name.empty()) return amount.number;
  for (std::size_t k = 0; k < schedule_.parameters.size(); ++k) {
    if (schedule_.parameters[k].name == amount.name) return cell_.parameters[k];
  }
  for (std::size_t k = 0; k < variant.size(); ++k) {
    if (schedule_.variants[k].name == amount.name) return variant[k];
  }
  throw InputError(schedule_.file, fmt::format("there is no parameter '{}'", amount.name));
}

std::uint64_t SchedulePlan::count(const std::vector<ScheduleStep>& steps) const {
  std::uint64_t all = 0;
  for (const ScheduleStep& step : steps) {
    if (step.kind != ScheduleStep::Kind::kRepeat) {
      all = saturating_add<std::uint64_t>(all, 1);
      continue;
    }
    const auto times = static_cast<std::uint64_t>(value_of(step.times, {}));
    const std::uint64_t others =
        step.every == 0 ? 0 : times / step.every + (times % step.every >= step.at ? 1 : 0);
    all = saturating_add(all, saturating_multiply(times - others, count(step.steps)));
    all = saturating_add(all, saturating_multiply(others, count(step.instead)));
  }
  return all;
}

void SchedulePlan::flatten(const std::vector<ScheduleStep>& steps) {
  for (const ScheduleStep& step : steps) {
    if (step.kind != ScheduleStep::Kind::kRepeat) {
      order_.push_back(index_in(kinds_, &step));
      continue;
    }
    const auto times = static_cast<std::uint64_t>(value_of(step.times, {}));
    for (std::uint64_t round = 1; round <= times; ++round) {
      const bool other = step.every > 0 && (round - 1) % step.every == step.at - 1;
      flatten(other ? step.instead : step.steps);
    }
  }
}

SchedulePlan::Leaf SchedulePlan::leaf_of(const ScheduleStep& step,
                                         const std::vector<double>& variant,
                                         const std::vector<VariableId>& naming,
                                         CommandTable& table) const {
  Leaf leaf;
  if (step.kind == ScheduleStep::Kind::kPrint) {
    leaf.print = true;
    leaf.variable = naming[step.variable];
    // Values are renamed as variables are, so that a start of 1, 2, 3 stays one.
    if (step.shows)
      leaf.shows = naming[static_cast<std::size_t>(value_of(*step.shows, variant)) - 1];
    return leaf;
  }
  leaf.hidden = step.outcomes.size() > 1;
  leaf.outcome = step.outcome;
  if (!leaf.hidden) {
    leaf.at = index_in(table.permutes, renamed(step.outcomes[0], naming));
    return leaf;
  }
  Mixture mixture;
  for (const Permute& outcome : step.outcomes) mixture.outcomes.push_back(renamed(outcome, naming));
  for (const Amount& threshold : step.thresholds)
    mixture.thresholds.push_back(value_of(threshold, variant));
  leaf.at = index_in(table.mixtures, mixture);
  return leaf;
}

ScheduleStream::ScheduleStream(const SchedulePlan& plan, std::uint64_t seed, std::uint64_t index)
    : plan_(plan),
      leaves_(plan.leaves(index)),
      naming_(plan.names_of_[index % plan.names_of_.size()]),
      n_(plan.schedule().variables),
      random_(seed, index),
      python_seed_(Sampler::python_seed(seed, index)),
      hidden_(python_seed_),
      state_(std::vector<ValueId>(n_)) {
  const std::vector<ValueId>& begin = plan.schedule().start;
  for (std::size_t v = 0; v < begin.size(); ++v) state_.set(naming_[v], naming_[begin[v]]);
  if (!plan.forced()) return;
  look_ahead();
  if (begin.empty()) {
    draw_forced_start();
  } else if (ahead_[rank_of(state_, n_)] == 0) {
    refuse_impossible();
  }
}

// Of each order, the rank of the one that the command makes of it.
const std::uint32_t* ScheduleStream::moved(const Permute& permute) {
  for (const auto& [known, table] : moved_) {
    if (known == &permute) return table.data();
  }
  std::vector<std::uint32_t> table;
  std::vector<ValueId> order(n_);
  for (std::size_t q = 0; q < orders_.size() / n_; ++q) {
    const ValueId* from = orders_.data() + q * n_;
    std::copy(from, from + n_, order.begin());
    for (std::size_t k = 0; k < permute.targets.size(); ++k)
      order[permute.targets[k]] = from[permute.sources[k]];
    table.push_back(static_cast<std::uint32_t>(rank_of(order, n_)));
  }
  moved_.emplace_back(&permute, std::move(table));
  return moved_.back().second.data();
}

// From the last step that is forced back to the first.
void ScheduleStream::look_ahead() {
  orders_ = all_orders(n_);
  const std::size_t orders = orders_.size() / n_, steps = plan_.last_forced_;
  require_memory(
      saturating_multiply<std::uint64_t>(steps + 1, orders, sizeof(double)),
      fmt::format("the look ahead of a forced trace of {} steps on {} variables", steps, n_));
  ahead_.assign((steps + 1) * orders, 1.0);
  for (std::size_t at = steps; at-- > 0;) {
    const Leaf& leaf = leaves_[plan_.order_[at]];
    const double* after = ahead_.data() + (at + 1) * orders;
    double* here = ahead_.data() + at * orders;
    if (leaf.print) {
      for (std::size_t q = 0; q < orders; ++q)
        here[q] = !leaf.shows || orders_[q * n_ + leaf.variable] == *leaf.shows ? after[q] : 0;
    } else if (!leaf.hidden) {
      const std::uint32_t* to = moved(plan_.table_->permutes[leaf.at]);
      for (std::size_t q = 0; q < orders; ++q) here[q] = after[to[q]];
    } else {
      const Mixture& mixture = plan_.table_->mixtures[leaf.at];
      std::fill(here, here + orders, 0.0);
      for (std::size_t k = 0; k < mixture.outcomes.size(); ++k) {
        const double weight = mixture.probability(k);
        if (weight <= 0 || (leaf.outcome && *leaf.outcome != k)) continue;
        const std::uint32_t* to = moved(mixture.outcomes[k]);
        for (std::size_t q = 0; q < orders; ++q) here[q] += weight * after[to[q]];
      }
    }
    const double most = *std::max_element(here, here + orders);
    if (most == 0) refuse_impossible();
    for (std::size_t q = 0; q < orders; ++q) here[q] /= most;
  }
}

// Which states are possible after each step tells where what is said fails.
void ScheduleStream::refuse_impossible() const {
  const std::size_t orders = orders_.size() / n_;
  std::vector<bool> possible(orders, plan_.schedule_.start.empty());
  if (!plan_.schedule_.start.empty()) possible[rank_of(state_, n_)] = true;
  std::vector<ValueId> order(n_);
  const auto apply = [&](const Permute& permute, std::size_t q) {
    const ValueId* from = orders_.data() + q * n_;
    std::copy(from, from + n_, order.begin());
    for (std::size_t k = 0; k < permute.targets.size(); ++k)
      order[permute.targets[k]] = from[permute.sources[k]];
    return rank_of(order, n_);
  };
  for (std::size_t at = 0; at < plan_.last_forced_; ++at) {
    const Leaf& leaf = leaves_[plan_.order_[at]];
    std::vector<bool> after(orders);
    for (std::size_t q = 0; q < orders; ++q) {
      if (!possible[q]) continue;
      if (leaf.print) {
        after[q] = !leaf.shows || orders_[q * n_ + leaf.variable] == *leaf.shows;
      } else if (!leaf.hidden) {
        after[apply(plan_.table_->permutes[leaf.at], q)] = true;
      } else {
        const Mixture& mixture = plan_.table_->mixtures[leaf.at];
        for (std::size_t k = 0; k < mixture.outcomes.size(); ++k) {
          if (mixture.probability(k) > 0 && (!leaf.outcome || *leaf.outcome == k))
            after[apply(mixture.outcomes[k], q)] = true;
        }
      }
    }
    possible = std::move(after);
    if (std::ranges::find(possible, true) != possible.end()) continue;
    const std::string& place = plan_.kinds_[plan_.order_[at]]->place;
    if (leaf.print)
      throw InputError(place, fmt::format("step {} of the trace: a print of {} cannot show {} "
                                          "after the steps before it",
                                          at + 1, plan_.names_->variable(leaf.variable),
                                          plan_.names_->value(*leaf.shows).text));
    throw InputError(
        place,
        fmt::format("step {} of the trace: an outcome of probability 0 cannot happen", at + 1));
  }
  throw InputError(plan_.schedule_.file,
                   "what the schedule says must be probable enough for 64-bit numbers");
}

// The start given all that is said; then a seed from which Python's sample() makes it.
void ScheduleStream::draw_forced_start() {
  const std::size_t orders = orders_.size() / n_;
  double all = 0;
  for (std::size_t q = 0; q < orders; ++q) all += ahead_[q];
  double left = random_.unit() * all;
  std::size_t chosen = 0;
  for (std::size_t q = 0; q < orders; ++q) {
    if (ahead_[q] == 0) continue;
    chosen = q;
    left -= ahead_[q];
    if (left < 0) break;
  }
  const ValueId* order = orders_.data() + chosen * n_;
  for (std::size_t v = 0; v < n_; ++v) state_.set(v, order[v]);
  for (;; python_seed_ = random_.next()) {
    hidden_ = HiddenSources(python_seed_);
    const auto drawn = hidden_.shuffle(Condition::kRandom, static_cast<std::uint32_t>(n_));
    if (std::equal(drawn.begin(), drawn.end(), order)) return;
  }
}

bool ScheduleStream::next(Program& piece, std::uint64_t commands, std::vector<ValueId>* states) {
  if (piece.shared_names() != plan_.names_ || piece.shared_table() != plan_.table_)
    piece = Program(plan_.names_, plan_.table_);
  piece.clear_events();
  asked_.clear();
  const std::size_t end = plan_.order_.size();
  if (started_ && at_ == end) return false;
  if (!started_) start(piece);
  for (std::uint64_t done = 0; at_ < end; ++at_) {
    const bool command = !leaves_[plan_.order_[at_]].print;
    if (command && done == std::max<std::uint64_t>(commands, 1)) break;
    done += command ? 1 : 0;
    step(piece, at_, states);
  }
  return true;
}

void ScheduleStream::start(Program& piece) {
  started_ = true;
  if (plan_.hidden_) piece.add_import(Import::kRandom);
  if (plan_.schedule_.start.empty()) {
    std::vector<VariableId> variables(n_);
    std::iota(variables.begin(), variables.end(), VariableId{0});
    const std::vector<ValueId> values(variables.begin(), variables.end());
    piece.add_import(Import::kSample);
    piece.add_start(Condition::kRandom, variables, values);
    if (!plan_.forced()) {
      const auto order = hidden_.shuffle(Condition::kRandom, static_cast<std::uint32_t>(n_));
      for (std::size_t v = 0; v < n_; ++v) state_.set(v, static_cast<ValueId>(order[v]));
    }
  } else {
    for (std::size_t v = 0; v < n_; ++v) piece.add_assign(static_cast<VariableId>(v), state_[v]);
  }
  asked_.assign(piece.events().size(), false);
}

void ScheduleStream::step(Program& piece, std::size_t at, std::vector<ValueId>* states) {
  const Leaf& leaf = leaves_[plan_.order_[at]];
  asked_.push_back(plan_.asks(at));
  if (leaf.print) {
    const ValueId value = state_[leaf.variable];
    return piece.add_print(true, {&leaf.variable, 1}, {&value, 1});
  }
  if (!leaf.hidden) {
    piece.add_permute(leaf.at);
    state_.apply(plan_.table_->permutes[leaf.at]);
  } else {
    const Mixture& mixture = plan_.table_->mixtures[leaf.at];
    piece.add_choose(leaf.at);
    const std::size_t outcome = plan_.forced() ? forced_outcome(mixture, leaf, at)
                                               : mixture.select(hidden_.draw(Condition::kRandom));
    state_.apply(mixture.outcomes[outcome]);
  }
  if (states != nullptr) state_.append_to(*states);
}

std::size_t ScheduleStream::forced_outcome(const Mixture& mixture, const Leaf& leaf,
                                           std::size_t at) {
  const std::size_t orders = orders_.size() / n_;
  const bool looks = at < plan_.last_forced_;
  const double* after = looks ? ahead_.data() + (at + 1) * orders : nullptr;
  const std::size_t here = rank_of(state_, n_);
  std::vector<double> weights(mixture.outcomes.size());
  double all = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (leaf.outcome && *leaf.outcome != k) continue;
    weights[k] = mixture.probability(k) * (looks ? after[moved(mixture.outcomes[k])[here]] : 1.0);
    all += weights[k];
  }
  double left = random_.unit() * all;
  std::size_t chosen = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (!(weights[k] > 0)) continue;
    chosen = k;
    left -= weights[k];
    if (left < 0) break;
  }
  hidden_numbers_.push_back(drawn_in(mixture, chosen));
  return chosen;
}

// A number that selects the outcome, with few digits where it has room.
double ScheduleStream::drawn_in(const Mixture& mixture, std::size_t outcome) {
  const double low = outcome == 0 ? 0 : mixture.thresholds[outcome - 1];
  const double high = outcome < mixture.thresholds.size() ? mixture.thresholds[outcome] : 1;
  const double number = low + (high - low) * (1 + random_.below(9)) / 10;
  const double rounded = std::round(number * 1e4) / 1e4;
  for (const double tried : {rounded, number, low}) {
    if (tried < 1 && mixture.select(tried) == outcome) return tried;
  }
  fail("a hidden number must fit between {} and {}", low, high);
}

}  // namespace shellgame
