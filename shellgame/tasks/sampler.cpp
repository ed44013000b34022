#include "shellgame/tasks/sampler.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "shellgame/text/error.h"

namespace shellgame {

Sampler::Sampler(Task task) : task_((check_task(task), std::move(task))), moves_(task_) {
  const std::size_t n = group_degree(task_.group);
  names_ = std::make_shared<Names>(task_.values.empty() ? Names::standard(n)
                                                        : Names::with_strings(task_.values));
  for (std::size_t v = 0; v < n; ++v) {
    const Value value =
        task_.values.empty() ? Value{std::to_string(v + 1), false} : Value{task_.values[v], true};
    initial_.push_back(*names_->find_value(value));
    all_variables_.push_back(static_cast<VariableId>(v));
  }
  for (const std::string& text : task_.mixtures)
    mixtures_.push_back(parse_mixture(text, n, task_.condition));
  check_mixtures();
  const bool hidden = task_.branching || task_.skipped;
  const bool made = hidden && mixtures_.empty() && task_.otherwise == Otherwise::kMove;
  own_tables_ = !moves_.listed() || task_.skipped || made;
  auto table = std::make_shared<CommandTable>();
  if (!own_tables_) {
    *table = *moves_.table();
    if (!mixtures_.empty()) table->mixtures = mixtures_;
  }
  table_ = std::move(table);
  if (n <= TrackedState::kMostPacked && task_.moves != Moves::kSwaps) {
    for (const Permute& permute : table_->permutes) {
      std::array<std::uint8_t, TrackedState::kMostPacked> row{};
      for (std::size_t v = 0; v < n; ++v)
        row[v] = static_cast<std::uint8_t>(4 * permute.sources[v]);
      packed_sources_.insert(packed_sources_.end(), row.begin(), row.end());
    }
  }
}

// A mixture's outcomes must be elements of the group, as all other moves are.
void Sampler::check_mixtures() const {
  if (names_->size() > static_cast<std::size_t>(kMaxPoints)) return;  // S_n holds everything
  const Group group = parse_group(task_.group);
  for (const Mixture& mixture : mixtures_) {
    for (const Permute& outcome : mixture.outcomes) {
      const std::vector<int> targets(outcome.targets.begin(), outcome.targets.end());
      const std::vector<int> sources(outcome.sources.begin(), outcome.sources.end());
      const Permutation permutation = assignment(targets, sources);
      if (!group.contains(permutation)) {
        wrong_use("mixtures must stay in the group {}, and {} is not in it", task_.group,
                  permutation.to_cycles());
      }
    }
  }
}

std::uint32_t Sampler::python_seed(std::uint64_t seed, std::uint64_t index) {
  // The first word of the stream of that lane, without filling its buffer.
  return philox4x32({0, static_cast<std::uint32_t>(Lane::kPythonSeed),
                     static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)},
                    static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32))[0];
}

void Sampler::sample(std::uint64_t seed, std::uint64_t index, Program& program,
                     std::vector<ValueId>* states) const {
  ProgramStream stream(*this, seed, index);
  stream.next(program, stream.commands_total(), states);
}

Program Sampler::sample(std::uint64_t seed, std::uint64_t index,
                        std::vector<ValueId>* states) const {
  Program program;
  sample(seed, index, program, states);
  return program;
}

ProgramStream::ProgramStream(const Sampler& sampler, std::uint64_t seed, std::uint64_t index)
    : sampler_(sampler),
      task_(sampler.task_),
      stage_(stage_of(sampler.task_, index)),
      random_(seed, index),
      hidden_(task_.uncertain() ? Sampler::python_seed(seed, index) : 0),
      state_(sampler.initial_) {}

bool ProgramStream::next(Program& piece, std::uint64_t commands, std::vector<ValueId>* states) {
  if (piece.shared_names() != sampler_.names_ || piece.shared_table() != sampler_.table_) {
    piece = Program(sampler_.names_, sampler_.table_);
  }
  piece.clear_events();
  piece.set_environment_before(environment_);
  own_.reset();
  piece_ = &piece;
  if (started_ && done_ == stage_.commands) return false;
  if (sampler_.own_tables_) own_table();
  if (!started_) start();
  const std::uint64_t end = std::min(stage_.commands - done_, commands) + done_;
  const bool plain =
      !task_.branching && !task_.skipped && !sticky_ && !sampler_.packed_sources_.empty();
  while (done_ < end) {
    if (plain && states == nullptr) {
      plain_commands(std::min(end, next_reveal()) - done_);
    } else {
      command();
      ++done_;
      if (states != nullptr) state_.append_to(*states);
    }
    reveals();
  }
  if (own_) piece.set_table(own_);
  return true;
}

// The current piece's table; it knows the functions of earlier pieces, which may be called again.
CommandTable& ProgramStream::own_table() {
  if (!own_) {
    own_ = std::make_shared<CommandTable>();
    own_->definitions = definitions_;
  }
  return *own_;
}

void ProgramStream::start() {
  started_ = true;
  sticky_ = run_ended_ = task_.sticky_share > 0 && random_.unit() < task_.sticky_share;
  const auto variables = std::span<const VariableId>(sampler_.all_variables_);
  // With an environment condition an unknown start still needs values that the text shows:
  // sample().
  const Condition start_source =
      task_.condition == Condition::kService ? Condition::kService : Condition::kRandom;
  if (task_.branching || task_.skipped) {
    switch (task_.condition) {
      case Condition::kRandom:
        piece_->add_import(Import::kRandom);
        break;
      case Condition::kEnvironment:
        piece_->add_import(Import::kEnviron);
        break;
      case Condition::kService:
        piece_->add_import(Import::kFetch);
        break;
    }
  }
  if (task_.unknown_start) {
    piece_->add_import(start_source == Condition::kRandom ? Import::kSample : Import::kStart);
    piece_->add_start(start_source, variables, sampler_.initial_);
    const auto order = hidden_.shuffle(start_source, static_cast<std::uint32_t>(variables.size()));
    for (std::size_t v = 0; v < variables.size(); ++v) state_.set(v, sampler_.initial_[order[v]]);
  } else {
    for (VariableId v : variables) piece_->add_assign(v, state_[v]);
  }
  if (task_.initial_reveal == InitialReveal::kAll) reveal_all();
  if (task_.initial_reveal == InitialReveal::kOne) reveal_some();
}

// The number of commands after which the next reveal comes.
std::uint64_t ProgramStream::next_reveal() const {
  const auto next_multiple = [this](std::uint64_t of) {
    return of == 0 ? UINT64_MAX : (done_ / of + 1) * of;
  };
  const std::uint64_t some =
      task_.reveals == Reveals::kNone ? UINT64_MAX : next_multiple(stage_.spacing);
  return std::min(some, next_multiple(task_.full_reveal_period));
}

// The common case, in one tight loop: full permutations of a packed state, without uncertainty.
void ProgramStream::plain_commands(std::uint64_t count) {
  const std::uint8_t* sources = sampler_.packed_sources_.data();
  for (Event& event : piece_->add_permutes(count)) {
    const std::uint32_t index = sampler_.moves_.draw_index(random_);
    event.at = index;
    state_.permute_packed(sources + index * TrackedState::kMostPacked);
  }
  done_ += count;
}

void ProgramStream::command() {
  if (sticky_ && done_ % stage_.spacing == 0) draw_sticky();
  if (cycles_left_ == 0) draw_command();
  do_command();
}

// At the first command of a cycle: goes on with a run, begins one, or draws as usual.
void ProgramStream::draw_sticky() {
  if (cycles_left_ > 0 && --cycles_left_ > 0) return;
  const auto drawn = [this](const DrawnCycles& span) {
    return span.least + random_.below64(span.most - span.least + 1);
  };
  if (run_ended_) {
    run_ended_ = false;
    gap_left_ = drawn(task_.sticky_gap);
  }
  if (gap_left_ > 0) {
    --gap_left_;
    return;
  }
  cycles_left_ = drawn(task_.sticky_cycles);
  run_ended_ = true;
  draw_command();
  // One of the variables that the command moves: of the identity, of all.
  std::vector<VariableId>& moved = shown_;
  moved.clear();
  const auto add = [&](const Permute& permute) {
    for (std::size_t k = 0; k < permute.targets.size(); ++k) {
      const VariableId v = permute.targets[k];
      if (permute.sources[k] != v && std::ranges::find(moved, v) == moved.end()) moved.push_back(v);
    }
  };
  if (hidden_command_) {
    for (const Permute& outcome : mixture_->outcomes) add(outcome);
  } else {
    add(sampler_.own_tables_ ? permute_ : sampler_.table_->permutes[shared_]);
  }
  std::ranges::sort(moved);
  const auto& from = moved.empty() ? sampler_.all_variables_ : moved;
  kept_variable_ = from[random_.below(static_cast<std::uint32_t>(from.size()))];
}

// Of one there is nothing to draw.
std::uint32_t ProgramStream::drawn_probability() {
  const auto count = static_cast<std::uint32_t>(task_.probabilities.size());
  return count == 1 ? 0 : random_.below(count);
}

void ProgramStream::draw_command() {
  hidden_command_ = (task_.branching || task_.skipped) &&
                    (task_.uncertain_share >= 1 || random_.unit() < task_.uncertain_share);
  if (!hidden_command_) {
    if (!sampler_.own_tables_) {
      shared_ = sampler_.moves_.draw_index(random_);
    } else {
      permute_ = sampler_.moves_.draw(random_);
    }
    return;
  }
  // A mixture: from the spec's list, from the shared table, or made of drawn moves.
  if (!sampler_.mixtures_.empty()) {
    shared_ = random_.below(static_cast<std::uint32_t>(sampler_.mixtures_.size()));
    mixture_ = &sampler_.mixtures_[shared_];
  } else if (!sampler_.own_tables_) {
    shared_ = sampler_.moves_.draw_index(random_) +
              drawn_probability() * static_cast<std::uint32_t>(sampler_.table_->permutes.size());
    mixture_ = &sampler_.table_->mixtures[shared_];
  } else {
    const double probability = task_.probabilities[drawn_probability()];
    made_ = {task_.condition, {probability}, {sampler_.moves_.draw(random_), {}}};
    if (task_.otherwise == Otherwise::kMove) made_.outcomes[1] = sampler_.moves_.draw(random_);
    mixture_ = &made_;
  }
}

void ProgramStream::do_command() {
  if (!hidden_command_) {
    if (!sampler_.own_tables_) {
      piece_->add_permute(shared_);
      state_.apply(sampler_.table_->permutes[shared_]);
      return;
    }
    CommandTable& table = own_table();
    table.permutes.push_back(permute_);
    piece_->add_permute(static_cast<std::uint32_t>(table.permutes.size() - 1));
    state_.apply(permute_);
    return;
  }
  const std::size_t outcome = mixture_->select(hidden_.draw(task_.condition));
  if (task_.skipped) {
    SkippedCall call = make_skipped(*mixture_, state_.size());
    auto found = std::ranges::find(definitions_, call.definition);
    if (found == definitions_.end()) {
      if (definitions_.size() >= 65535) fail("a trace must have at most 65535 skipped functions");
      own_table().definitions.push_back(call.definition);
      definitions_.push_back(call.definition);
      found = definitions_.end() - 1;
      piece_->add_define(static_cast<std::uint32_t>(definitions_.size() - 1));
    }
    piece_->add_call(static_cast<std::uint16_t>(found - definitions_.begin()), call.arguments);
    state_.call(found->mixture.outcomes[outcome], call.arguments);
    return;
  }
  if (!sampler_.own_tables_) {
    piece_->add_choose(shared_);
  } else {
    own_table().mixtures.push_back(*mixture_);
    piece_->add_choose(static_cast<std::uint32_t>(own_table().mixtures.size() - 1));
  }
  if (task_.condition == Condition::kEnvironment) ++environment_;
  state_.apply(mixture_->outcomes[outcome]);
}

void ProgramStream::reveals() {
  if (task_.full_reveal_period > 0 && done_ % task_.full_reveal_period == 0) return reveal_all();
  if (task_.reveals != Reveals::kNone && done_ % stage_.spacing == 0) {
    cycles_left_ > 0 ? reveal_sticky() : reveal_some();
  }
}

// What a run shows: the variable that it keeps.
void ProgramStream::reveal_sticky() {
  shown_.assign(1, kept_variable_);
  show(shown_);
}

void ProgramStream::reveal_all() {
  values_.clear();
  state_.append_to(values_);
  piece_->add_print(false, sampler_.all_variables_, values_);
}

void ProgramStream::reveal_some() {
  const auto n = static_cast<std::uint32_t>(state_.size());
  const auto count = static_cast<std::uint32_t>(task_.reveal_count);
  shown_.clear();
  if (task_.reveals == Reveals::kUniform && count == 1) {
    // The common case: nothing to sort, and with one form nothing more to draw.
    const auto variable = static_cast<VariableId>(random_.below(n));
    if (task_.reveal_forms.size() == 1 && task_.reveal_forms[0] == RevealForm::kPrint) {
      const ValueId value = state_[variable];
      return piece_->add_print(true, {&variable, 1}, {&value, 1});
    }
    shown_.push_back(variable);
  } else if (task_.reveals == Reveals::kUniform) {
    // Each set of `count` variables is equally likely (Floyd's method); shown in the order of their
    // names.
    for (std::uint32_t top = n - count; top < n; ++top) {
      const auto pick = static_cast<VariableId>(random_.below(top + 1));
      const bool taken = std::ranges::find(shown_, pick) != shown_.end();
      shown_.push_back(taken ? static_cast<VariableId>(top) : pick);
    }
    std::ranges::sort(shown_);
  } else {
    const std::uint64_t first =
        task_.reveals == Reveals::kFixed ? *scheme_index(task_.reveal_variable) : turn_;
    for (std::uint32_t k = 0; k < count; ++k)
      shown_.push_back(static_cast<VariableId>((first + k) % n));
    turn_ = (turn_ + count) % n;
  }
  show(shown_);
}

void ProgramStream::show(const std::vector<VariableId>& variables) {
  const auto forms = static_cast<std::uint32_t>(task_.reveal_forms.size());
  const RevealForm form = task_.reveal_forms[forms == 1 ? 0 : random_.below(forms)];
  if (form == RevealForm::kPrint) {
    values_.clear();
    for (VariableId v : variables) values_.push_back(state_[v]);
    piece_->add_print(true, variables, values_);
  } else {
    for (VariableId v : variables) reveal_one(v, form);
  }
}

void ProgramStream::reveal_one(VariableId variable, RevealForm form) {
  const auto n = static_cast<std::uint32_t>(state_.size());
  const ValueId value = state_[variable];
  if (form == RevealForm::kEqual)
    return piece_->add_assert(Relation::kEqual, variable, {&value, 1});
  if (form == RevealForm::kUnequal) {
    const auto asked = static_cast<ValueId>(random_.below(n));
    return piece_->add_assert(asked == value ? Relation::kEqual : Relation::kUnequal, variable,
                              {&asked, 1});
  }
  // The values in random order, cut in the middle; the half that holds the value is shown, sorted.
  values_.resize(n);
  std::iota(values_.begin(), values_.end(), ValueId{0});
  for (std::uint32_t k = n; k > 1; --k) std::swap(values_[k - 1], values_[random_.below(k)]);
  const auto middle = values_.begin() + (n + 1) / 2;
  const bool low = std::find(values_.begin(), middle, value) != middle;
  std::vector<ValueId> half(low ? values_.begin() : middle, low ? middle : values_.end());
  std::ranges::sort(half);
  piece_->add_assert(Relation::kIn, variable, half);
}

}  // namespace shellgame
