#include "shellgame/episodes/trace_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/beliefs/running_belief.h"
#include "shellgame/episodes/data_kinds.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/text/number.h"
#include "shellgame/tokens/token_stream.h"
#include "shellgame/traces/predictions.h"

namespace shellgame {
namespace {

// So many commands are some thousand tokens: a few slices of a model.
constexpr std::uint64_t kPieceCommands = 64;

Task without_stages(Task task) {
  task.stages.clear();
  return task;
}

// Traces of more commands are not made to learn how long they are: what their first half takes is
// drawn out.
constexpr std::uint64_t kMostMeasured = 1024;

std::uint64_t tokens_of_first(const TokenMaker& maker, std::uint64_t seed) {
  TokenStream stream(maker, seed, 0);
  std::uint64_t tokens = 0;
  for (TokenTrace piece; stream.next(piece, kPieceCommands);) tokens += piece.ids.size();
  return tokens;
}

std::uint64_t measured_tokens(const TokenMaker& maker, std::uint64_t seed) {
  const Task& task = maker.sampler().task();
  if (task.commands <= kMostMeasured) return tokens_of_first(maker, seed);
  const auto tokens_with = [&](std::uint64_t commands) {
    Task shorter = task;
    shorter.commands = commands;
    const Sampler sampler(std::move(shorter));
    return tokens_of_first(TokenMaker(sampler, maker.tokenizer()), seed);
  };
  const std::uint64_t all = tokens_with(kMostMeasured), half = tokens_with(kMostMeasured / 2);
  return saturating_add(
      all, saturating_multiply(task.commands - kMostMeasured, all - half) / (kMostMeasured / 2));
}

}  // namespace

class TraceSource::TraceEpisode final : public Episode {
 public:
  TraceEpisode(const TraceSource& source, std::uint64_t index)
      : source_(source), index_(index), stream_(source.maker_, source.options_.seed, index) {
    if (!wants_beliefs()) return;
    if (source.variables() <= RunningBelief::kMostVariables) belief_.emplace(source.variables());
  }

  bool next(Piece& piece, std::size_t tokens) override {
    if (source_.options_.steps || (wants_beliefs() && !belief_)) return whole(piece);
    const double commands = std::ceil(static_cast<double>(tokens) / source_.command_tokens_);
    if (!stream_.next(trace_, static_cast<std::uint64_t>(
                                  std::clamp(commands, 1.0, static_cast<double>(kPieceCommands)))))
      return false;
    if (!belief_) {
      source_.pieces_.fill(trace_.trace.program, trace_.reveals, trace_.ids.span(), nullptr, piece);
      return true;
    }
    belief_->read(trace_.trace.program, shown_marks(), beliefs_);
    source_.pieces_.fill(trace_.trace.program, trace_.reveals, trace_.ids.span(), &beliefs_, piece);
    return true;
  }

 private:
  bool wants_beliefs() const { return source_.options_.beliefs && !source_.is_certain(); }

  const std::vector<RevealMark>& shown_marks() {
    marks_ = trace_.reveals;
    std::erase_if(marks_,
                  [&](const RevealMark& mark) { return !shows_value(trace_.trace.program, mark); });
    return marks_;
  }

  bool whole(Piece& piece) {
    if (given_) return false;
    given_ = true;
    source_.maker_.make(source_.options_.seed, index_, trace_, true);
    if (wants_beliefs()) beliefs_ = predictions(trace_.trace.program, shown_marks());
    source_.pieces_.fill(trace_.trace.program, trace_.reveals, trace_.ids.span(),
                         wants_beliefs() ? &beliefs_ : nullptr, piece);
    if (!source_.options_.steps) return true;
    Trace trace;
    source_.text_.make(source_.options_.seed, index_, trace, /*complete=*/true);
    source_.pieces_.add_steps(trace.program, trace.states, index_,
                              !source_.is_certain() && source_.has_beliefs(), piece);
    return true;
  }

  const TraceSource& source_;
  std::uint64_t index_;
  TokenStream stream_;
  TokenTrace trace_;
  std::optional<RunningBelief> belief_;
  std::vector<RevealMark> marks_;
  std::vector<std::vector<double>> beliefs_;
  bool given_ = false;
};

TraceSource::TraceSource(const Task& task, const Tokenizer& tokenizer, const SourceOptions& options)
    : sampler_(without_stages(task)),
      tokenizer_(tokenizer),
      pieces_(tokenizer, sampler_.names()),
      maker_(sampler_, tokenizer),
      text_(sampler_),
      options_(options) {
  const Task& own = sampler_.task();
  const auto shows = [](RevealForm form) {
    return form == RevealForm::kPrint || form == RevealForm::kEqual;
  };
  // Blind questions (!=, in) have no value to predict.
  const bool by_reveals = own.reveals != Reveals::kNone && own.spacing <= own.commands &&
                          std::ranges::any_of(own.reveal_forms, shows);
  const bool by_full = own.full_reveal_period > 0 && own.full_reveal_period <= own.commands;
  if (!options.may_be_silent && !by_reveals && !by_full &&
      own.initial_reveal == InitialReveal::kNone) {
    wrong_use(
        "a task to be evaluated must show values: with {} commands, spacing {} and these reveals "
        "no trace prints one",
        own.commands, own.spacing);
  }
  tokens_ = measured_tokens(maker_, options_.seed);
  command_tokens_ = static_cast<double>(tokens_) / static_cast<double>(own.commands);
}

std::unique_ptr<Episode> TraceSource::episode(std::uint64_t index) const {
  return std::make_unique<TraceEpisode>(*this, index);
}

void TraceSource::whole(std::uint64_t index, Piece& piece) const {
  if (options_.steps || (options_.beliefs && !is_certain())) return Source::whole(index, piece);
  static thread_local TokenTrace trace;
  maker_.make(options_.seed, index, trace, true);
  pieces_.fill(trace.trace.program, trace.reveals, trace.ids.span(), nullptr, piece);
}

std::vector<Coordinate> TraceSource::axes() const {
  const Task& task = sampler_.task();
  return {{"commands", fmt::format("{}", task.commands)},
          {"spacing", fmt::format("{}", task.spacing)}};
}

std::uint64_t TraceSource::vocabulary_size() const { return tokenizer_.vocabulary_size(); }

double TraceSource::chance() const { return 1.0 / static_cast<double>(sampler_.names()->size()); }

std::string TraceSource::variable_name(std::uint32_t variable) const {
  return sampler_.names()->variable(variable);
}

std::string TraceSource::value_name(std::uint32_t value) const {
  return sampler_.names()->value(value).text;
}

std::string task_words(const Task& task) {
  const Task usual;
  std::string words = task.group;
  for (const TaskKey& key : task_keys()) {
    if (key.name == "group" || key.name == "commands" || key.name == "spacing") continue;
    const std::string value = key.get(task);
    if (key.name == "moves") {
      words += " " + value;
    } else if (value != key.get(usual)) {
      words += fmt::format(", {} = {}", key.name, value);
    }
  }
  return words;
}

std::unique_ptr<Source> TraceData::source(const Tokenizer* tokenizer,
                                          const SourceOptions& options) const {
  if (tokenizer == nullptr) wrong_use("traces need a tokenizer");
  return std::make_unique<TraceSource>(task_, *tokenizer, options);
}

std::uint64_t TraceData::segment_tokens(const Tokenizer* tokenizer) const {
  // What as many commands again add to a trace.
  Task twice = task_;
  twice.commands = saturating_multiply<std::uint64_t>(2, task_.commands);
  if (twice.commands > kMostCommands)
    wrong_use("a segment must have at most {} commands, not {}", kMostCommands / 2, task_.commands);
  const SourceOptions options{.beliefs = false, .may_be_silent = true};
  return TraceData(twice).source(tokenizer, options)->tokens() -
         source(tokenizer, options)->tokens();
}

std::unique_ptr<Source> TraceData::stream(const Tokenizer* tokenizer, const SourceOptions& options,
                                          std::uint64_t tokens) const {
  // As many commands again: commands differ in length.
  const double of_command =
      static_cast<double>(segment_tokens(tokenizer)) / static_cast<double>(task_.commands);
  Task long_enough = task_;
  long_enough.commands = std::min(
      kMostCommands,
      saturating_cast<std::uint64_t>(std::ceil(2 * static_cast<double>(tokens) / of_command)));
  return TraceData(long_enough).source(tokenizer, options);
}

bool TraceData::beliefs_are_cheap(std::uint64_t traces, std::string& sentence) const {
  if (!task_.uncertain()) return true;
  // At n = 5 a core makes some million steps a second, each over 120 states.
  constexpr double kMostVisits = 1e11, kLargestDegree = 10;
  const auto n = static_cast<double>(group_degree(task_.group));
  double visits = static_cast<double>(task_.commands) * static_cast<double>(traces);
  for (double k = 2; k <= n; ++k) visits *= k;
  if (n <= kLargestDegree && visits <= kMostVisits) return true;
  sentence = fmt::format(
      "the Bayes reference is left out: {} traces of {} commands on {} variables need {:.1g} "
      "visits of states (--bayes always computes it all the same)",
      traces, task_.commands, n, visits);
  return false;
}

std::string TraceData::silence() const {
  if (task_.reveals == Reveals::kNone) return "a task must show values, and its reveals are none";
  if (task_.spacing <= task_.commands) return "";
  return fmt::format(
      "spacing must be at most commands, or nothing is revealed, and it is {} with {}",
      task_.spacing, task_.commands);
}

DataKind traces_kind() {
  DataKind kind{.name = "traces",
                .summary = "Python traces of a task (docs/traces.md)",
                .keys = {},
                .axes = {"commands", "spacing"},
                .make = [](const DataSettings& settings) -> SharedData {
                  Task task;
                  for (const auto& [name, text] : settings) {
                    try {
                      find_task_key(name)->set(task, text);
                    } catch (const UsageError& error) {
                      throw DataKeyError(name, error.what());
                    }
                  }
                  check_task(task);
                  return std::make_shared<TraceData>(std::move(task));
                }};
  for (const TaskKey& key : task_keys()) {
    // A curriculum is made of stages of the experiment.
    if (key.name != "stages")
      kind.keys.push_back(
          {key.name, key.form, key.help, key.get(Task()), key.is_number, key.numbers});
  }
  return kind;
}

}  // namespace shellgame
