#include "shellgame/tool/belief_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/automata/example_automata.h"
#include "shellgame/automata/sample_word.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/programs/parse.h"
#include "shellgame/system/files.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/trace.h"
#include "shellgame/traces/trace_size.h"

namespace shellgame {

struct BeliefSource::Given {
  std::optional<TaskOptions> task;
  ScheduleOptions schedule;
  std::string trace, automaton, example;
  std::uint64_t seed = 0, first_index = 0, count = 1, sample = 0, every = 8;
};

BeliefSource::BeliefSource(CLI::App* command) : given_(std::make_shared<Given>()) {
  const std::string group = "Source (a sample of the task unless one of the first three is given)";
  CLI::Option* trace =
      command->add_option("--trace", given_->trace, "a file of traces (text or JSON lines)");
  CLI::Option* automaton = command->add_option("--automaton", given_->automaton,
                                               "an automaton in TOML; its word is what is said");
  CLI::Option* example = add_words(command, "--example", given_->example, example_names(),
                                   "a built-in automaton with its word");
  trace->type_name("FILE")->group(group);
  automaton->type_name("FILE")->group(group)->excludes(trace);
  example->group(group)->excludes(trace)->excludes(automaton);
  add_number(command, "--every", given_->every, NumberBounds::whole(1, 1'000'000),
             "replenished-cycle: cycles between two reveals of the other variable")
      ->group(group);
  add_number(command, "--sample-word", given_->sample, NumberBounds::whole(0, kMostCommands),
             "draw a word of N symbols from the automaton instead of its own")
      ->group(group);
  add_number(command, "--seed", given_->seed, kSeedBounds, "the seed of all draws")->group(group);
  add_number(command, "--first-index", given_->first_index, kIndexBounds, "the task's first sample")
      ->group(group);
  add_number(command, "--count", given_->count, NumberBounds::whole(1, kMostSigned),
             "samples of the task")
      ->group(group);
  given_->schedule.add(command);
  given_->task.emplace(command);
}

bool BeliefSource::is_task() const {
  return given_->trace.empty() && given_->automaton.empty() && given_->example.empty() &&
         !given_->schedule.given();
}

namespace {

constexpr std::uint64_t kSymbolBytes = 16;  // of a drawn word: symbols and states

// Samples are made whole, and all are there at once.
void require_inputs_in_memory(const Sampler& sampler, std::uint64_t count) {
  std::uint64_t commands = sampler.task().commands;
  for (const Stage& stage : sampler.task().stages) commands = std::max(commands, stage.commands);
  const std::uint64_t one = saturating_multiply(commands, trace_bytes_per_command(sampler));
  require_memory(saturating_multiply(count, one),
                 fmt::format("{} samples of {} commands", count, commands));
}

BeliefInput input_of(const Program& program, std::uint64_t index, Prints prints) {
  ProgramWord read = word_of(program, prints);
  std::vector<std::uint64_t> commands;
  std::uint64_t done = 0;
  for (std::uint32_t event : read.events) {
    commands.push_back(done);
    if (is_command(program.events()[event].kind)) ++done;
  }
  return {index, std::move(read.automaton), std::move(read.word), std::move(commands)};
}

}  // namespace

std::vector<BeliefInput> BeliefSource::read(Prints prints) const {
  std::vector<BeliefInput> all;
  if (given_->sample > 0 && (is_task() || !given_->trace.empty()))
    wrong_use("--sample-word draws from an automaton: it needs --automaton or --example");
  if (given_->schedule.given()) {
    std::uint64_t index = 0;
    const std::uint64_t end = given_->first_index + given_->count;
    for (const auto& plan : given_->schedule.cells()) {
      for (std::uint64_t trace = 0; trace < plan->traces() && index < end; ++trace, ++index) {
        if (index < given_->first_index) continue;
        Program program;
        ScheduleStream(*plan, given_->seed, trace).next(program, plan->commands() + 1);
        all.push_back(input_of(program, index, prints));
      }
    }
    if (all.empty()) wrong_use("the schedule must have a trace {}", given_->first_index);
    return all;
  }
  if (is_task()) {
    const Sampler sampler(given_->task->resolve());
    require_inputs_in_memory(sampler, given_->count);
    for (std::uint64_t i = 0; i < given_->count; ++i) {
      const std::uint64_t index = given_->first_index + i;
      all.push_back(input_of(sampler.sample(given_->seed, index), index, prints));
    }
    return all;
  }
  if (!given_->trace.empty()) {
    for (const TraceText& trace : read_traces(read_input(given_->trace), given_->trace))
      all.push_back(input_of(parse(trace.text, given_->trace), trace.index, prints));
    if (all.empty())
      throw InputError(given_->trace, "the file must hold at least one trace, and it holds none");
    return all;
  }
  AutomatonFile file = given_->example.empty()
                           ? parse_automaton(read_input(given_->automaton), given_->automaton)
                           : example_automaton(given_->example, given_->every);
  if (given_->sample > 0) {
    require_memory(saturating_multiply<std::uint64_t>(given_->sample, kSymbolBytes),
                   fmt::format("a word of {} symbols", given_->sample));
    RandomStream stream(given_->seed, given_->first_index, Lane::kSequence);
    if (!file.automaton.has_policy() && !file.automaton.is_blind()) {
      say("shellgame: note: without a policy each symbol that the state allows is drawn "
          "with the same chance, which tells more about the state than the filter uses");
    }
    file.word = WordSampler(file.automaton).sample(given_->sample, stream).word;
  }
  if (file.word.empty()) {
    wrong_use("the automaton must have a word, or --sample-word must say how many symbols to draw");
  }
  all.push_back({given_->first_index, std::move(file.automaton), std::move(file.word), {}});
  return all;
}

BeliefInput BeliefSource::next_sample(Prints prints) const {
  const std::uint64_t index = given_->first_index + 1;
  require_inputs_in_memory(Sampler(given_->task->resolve()), 1);
  return input_of(Sampler(given_->task->resolve()).sample(given_->seed, index), index, prints);
}

Automaton BeliefSource::whole() const {
  if (is_task()) return automaton_of(Sampler(given_->task->resolve()));
  return std::move(read(Prints::kWhole)[0].automaton);
}

FilterOptions FilterWords::options() const {
  FilterOptions result;
  result.kind = parse_filter(filter);
  result.precision = parse_precision(precision);
  result.flush = flush;
  result.hard_resets = hard_resets;
  return result;
}

void add_format_flags(CLI::App* command, FilterWords& words) {
  command->add_flag("--flush-subnormals", words.flush, "results below the normal range become 0");
  command->add_flag("--hard-resets", words.hard_resets,
                    "linear filters: a full reveal sets h to the state, a reset sets h to its "
                    "prior, instead of a product that carries lost mass on");
}

}  // namespace shellgame
