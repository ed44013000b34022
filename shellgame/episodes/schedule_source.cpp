#include "shellgame/episodes/schedule_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "shellgame/beliefs/running_belief.h"
#include "shellgame/decay/certificate.h"
#include "shellgame/episodes/data_kind.h"
#include "shellgame/system/files.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tasks/moves.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::uint64_t kScheduleCommands = 256;  // of a piece at most

LineCache<std::uint32_t> schedule_lines(const SchedulePlan& plan, const Tokenizer& tokenizer) {
  return {plan.names(), plan.table(),
          [&tokenizer](std::string_view text, std::vector<std::uint32_t>& ids,
                       std::vector<std::uint32_t>* offsets) {
            if (offsets != nullptr) {
              tokenizer.encode_with_offsets(text, ids, *offsets);
            } else {
              tokenizer.encode(text, ids);
            }
          }};
}

}  // namespace

class ScheduleSource::ScheduleEpisode final : public Episode {
 public:
  ScheduleEpisode(const ScheduleSource& source, std::uint64_t index)
      : source_(source),
        index_(index),
        stream_(*source.plan_, source.options_.seed, index),
        whole_(source.options_.steps || !source.tokenizer_.lines_are_independent()) {
    if (wants_beliefs()) belief_.emplace(source.variables());
  }

  bool next(Piece& piece, std::size_t) override {
    const std::uint64_t commands = whole_ ? source_.plan_->commands() + 1 : kScheduleCommands;
    if (!stream_.next(program_, commands, whole_ ? &states_ : nullptr)) return false;
    marks_.clear();
    ids_.clear();
    if (source_.tokenizer_.lines_are_independent()) {
      std::uint64_t environment = 0;
      source_.lines_.append(program_, ids_, commands_, environment, &marks_);
    } else {
      const std::string text = render(program_, &marks_);
      std::vector<std::uint32_t> ids, offsets;
      source_.tokenizer_.encode_with_offsets(text, ids, offsets);
      marks_in_units(marks_, offsets);
      ids_.append(ids);
    }
    if (belief_) belief_->read(program_, marks_, beliefs_);
    source_.pieces_.fill(program_, marks_, ids_.span(), belief_ ? &beliefs_ : nullptr, piece,
                         &stream_.asked());
    if (source_.options_.steps)
      source_.pieces_.add_steps(program_, states_, index_, wants_beliefs(), piece);
    return true;
  }

 private:
  bool wants_beliefs() const { return source_.options_.beliefs && !source_.is_certain(); }

  const ScheduleSource& source_;
  std::uint64_t index_;
  ScheduleStream stream_;
  bool whole_;
  Program program_;
  Buffer<std::uint32_t> ids_;
  std::vector<RevealMark> marks_;
  std::vector<ValueId> states_;
  std::vector<std::vector<double>> beliefs_;
  std::optional<RunningBelief> belief_;
  std::uint64_t commands_ = 0;
};

ScheduleSource::ScheduleSource(std::shared_ptr<const SchedulePlan> plan, const Tokenizer& tokenizer,
                               const SourceOptions& options)
    : plan_(std::move(plan)),
      tokenizer_(tokenizer),
      pieces_(tokenizer, plan_->names()),
      lines_(schedule_lines(*plan_, tokenizer)),
      options_(options) {
  if (!plan_->asks_any())
    wrong_use("a schedule to be evaluated must print a value at least once, and '{}' never does",
              plan_->schedule().name);
  SourceOptions plain = options;
  plain.beliefs = plain.steps = false;
  std::swap(options_, plain);
  Piece piece;
  for (const auto one = episode(0); one->next(piece, 0);) tokens_ += piece.ids.size();
  std::swap(options_, plain);
}

std::unique_ptr<Episode> ScheduleSource::episode(std::uint64_t index) const {
  return std::make_unique<ScheduleEpisode>(*this, episodes() == 0 ? index : index % episodes());
}

std::string ScheduleSource::name() const {
  return fmt::format("schedule {}", plan_->schedule().name);
}

bool ScheduleSource::depends_on_seed() const {
  if (!plan_->shows_what_is_drawn()) return false;
  constexpr std::uint64_t kMostToFindOut = 10'000'000;  // commands that are read
  if (plan_->shows_it_early() || !plan_->asks_last() ||
      variables() > RunningBelief::kMostVariables || episodes() == 0 ||
      saturating_multiply(plan_->traces(), plan_->commands()) > kMostToFindOut)
    return true;
  SourceOptions with = options_;
  with.beliefs = true;
  with.steps = false;
  const ScheduleSource source(plan_, tokenizer_, with);
  Piece piece;
  for (std::uint64_t trace = 0; trace < source.episodes(); ++trace) {
    source.whole(trace, piece);
    const std::vector<double>& belief = piece.questions.back().belief;
    if (!belief.empty() && *std::ranges::max_element(belief) < 1) return true;
  }
  return false;
}

std::vector<Coordinate> ScheduleSource::axes() const { return schedule_axes(*plan_); }

std::vector<Coordinate> schedule_axes(const SchedulePlan& plan) {
  const Schedule& schedule = plan.schedule();
  std::vector<Coordinate> axes{{"schedule", schedule.name}};
  for (std::size_t k = 0; k < schedule.parameters.size(); ++k)
    axes.push_back({schedule.parameters[k].name, amount_text(plan.cell().parameters[k])});
  const std::string& ending = schedule.endings[plan.cell().ending].name;
  if (!ending.empty()) axes.push_back({"ending", ending});
  return axes;
}

std::unique_ptr<Source> ScheduleData::source(const Tokenizer* tokenizer,
                                             const SourceOptions& options) const {
  if (tokenizer == nullptr) wrong_use("schedules need a tokenizer");
  if (options.may_be_silent && plan_->forced())
    wrong_use(
        "a schedule to train on must not say what happened, and '{}' does: forced outcomes teach "
        "false probabilities",
        plan_->schedule().name);
  return std::make_unique<ScheduleSource>(plan_, *tokenizer, options);
}

namespace {

Permute permute_of(const std::vector<int>& from) {
  Permute permute;
  for (std::size_t v = 0; v < from.size(); ++v) {
    if (from[v] == static_cast<int>(v)) continue;
    permute.targets.push_back(static_cast<VariableId>(v));
    permute.sources.push_back(static_cast<VariableId>(from[v]));
  }
  return permute;
}

ScheduleStep step_of(const Certificate::Meaning& meaning, const std::string& place) {
  ScheduleStep step;
  step.place = place;
  if (meaning.mixture.empty()) {
    step.kind = ScheduleStep::Kind::kPrint;
    step.variable = static_cast<VariableId>(meaning.variable);
    step.shows = Amount{static_cast<double>(meaning.value + 1)};
    return step;
  }
  // What does nothing comes last, as in the text of a trace.
  auto mixture = meaning.mixture;
  std::ranges::stable_partition(
      mixture, [](const auto& outcome) { return !permute_of(outcome.from).is_pass(); });
  Rational sum;
  for (const Certificate::Outcome& outcome : mixture) {
    if (!step.outcomes.empty()) step.thresholds.push_back({to_double(sum)});
    step.outcomes.push_back(permute_of(outcome.from));
    sum += outcome.probability;
  }
  if (sum != 1) throw InputError(place, "the probabilities of a mixture must sum to 1");
  return step;
}

Schedule schedule_of(const Certificate& certificate, const std::string& file) {
  Schedule schedule;
  schedule.file = file;
  schedule.name = std::filesystem::path(file).stem().string();
  schedule.variables = static_cast<std::size_t>(certificate.n);
  if (schedule.variables < 2 || schedule.variables > Schedule::kMostVariables)
    throw InputError(file, fmt::format("a schedule must have 2 to {} variables, not {}",
                                       Schedule::kMostVariables, schedule.variables));
  std::size_t orders = 1;
  for (std::size_t k = 2; k <= schedule.variables; ++k) orders *= k;
  if (certificate.start.size() == 1) {
    for (const int value : certificate.start[0].first)
      schedule.start.push_back(static_cast<ValueId>(value));
  } else if (certificate.start.size() != orders) {
    throw InputError(file, fmt::format("a schedule must start from one order or from all {}, not "
                                       "from {}",
                                       orders, certificate.start.size()));
  }
  schedule.parameters = {{"N", {static_cast<double>(certificate.norms.size() - 1)}}};
  const auto add = [&](const std::vector<std::string>& word, std::vector<ScheduleStep>& steps) {
    for (const std::string& name : word)
      steps.push_back(step_of(certificate.symbols.at(name), fmt::format("{}: '{}'", file, name)));
  };
  add(certificate.before, schedule.steps);
  ScheduleStep cycle{.kind = ScheduleStep::Kind::kRepeat, .place = file, .times = {0, "N"}};
  add(certificate.cycle, cycle.steps);
  schedule.steps.push_back(std::move(cycle));
  for (VariableId v = 0; v < schedule.variables; ++v) {
    ScheduleEnding ending{scheme_variable(v), {}};
    std::vector<VariableId> others;
    for (VariableId w = 0; w < schedule.variables; ++w) {
      if (w != v) others.push_back(w);
    }
    // A command between two prints, which leaves what is asked for alone.
    if (others.size() >= 2)
      ending.steps.push_back({.place = file,
                              .outcomes = {swap_permute(others[0], others[1]), {}},
                              .thresholds = {{0.5}}});
    ending.steps.push_back({.kind = ScheduleStep::Kind::kPrint, .place = file, .variable = v});
    schedule.endings.push_back(std::move(ending));
  }
  return schedule;
}

}  // namespace

Schedule parse_any_schedule(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    return schedule_of(parse_certificate(text, file), file);
  return parse_schedule(text, file);
}

Schedule read_schedule(const std::string& file) {
  return parse_any_schedule(read_input(file), file);
}

std::vector<std::shared_ptr<const SchedulePlan>> schedule_cells(
    const std::string& file, const std::vector<std::string>& settings) {
  Schedule schedule = read_schedule(file);
  for (const std::string& several : settings) {
    for (const std::string& setting : split_settings(several)) restrict_schedule(schedule, setting);
  }
  std::vector<std::shared_ptr<const SchedulePlan>> cells;
  for (const ScheduleCell& cell : cells_of(schedule))
    cells.push_back(std::make_shared<SchedulePlan>(schedule, cell));
  return cells;
}

}  // namespace shellgame
