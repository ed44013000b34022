#include "shellgame/episodes/schedule_writer.h"

#include <fmt/format.h>

#include <optional>

#include "shellgame/beliefs/running_belief.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

// One trace, made whole.
struct ScheduleTrace {
  Program program;
  std::string text;
  std::vector<RevealMark> marks;
  std::vector<ValueId> states;
  std::optional<std::uint32_t> python_seed;
  std::optional<std::vector<double>> hidden_numbers;
};

ScheduleTrace whole_trace(const SchedulePlan& plan, std::uint64_t seed, std::uint64_t trace) {
  ScheduleTrace made;
  ScheduleStream stream(plan, seed, trace);
  stream.next(made.program, plan.commands() + 1, &made.states);
  made.text = render(made.program, &made.marks);
  if (plan.is_uncertain()) made.python_seed = stream.python_seed();
  if (plan.forced() && plan.is_uncertain()) made.hidden_numbers = stream.hidden_numbers();
  return made;
}

std::string json_of(const SchedulePlan& plan, const ScheduleTrace& trace, std::uint64_t index,
                    std::uint64_t of_cell, bool with_beliefs) {
  std::optional<RevealBeliefs> beliefs;
  if (with_beliefs)
    RunningBelief(plan.names()->size()).read(trace.program, trace.marks, beliefs.emplace());
  std::string line;
  append_json_line(trace.program, trace.text, trace.marks, trace.states, index, trace.python_seed,
                   std::nullopt, line, beliefs ? &*beliefs : nullptr,
                   trace.hidden_numbers ? &*trace.hidden_numbers : nullptr);
  nlohmann::ordered_json place;
  for (const Coordinate& axis : schedule_axes(plan)) place[axis.name] = axis_json(axis);
  place["trace"] = of_cell;
  const std::string index_text = fmt::format("{{\"index\": {}", index);
  return fmt::format("{}, \"cell\": {}{}", index_text,
                     place.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                     line.substr(index_text.size()));
}

std::string header_of(const SchedulePlan& plan, const ScheduleTrace& trace, std::uint64_t seed,
                      std::uint64_t index) {
  std::string header = fmt::format("# shellgame trace: {}, seed {}, index {}",
                                   axes_words(schedule_axes(plan)), seed, index);
  if (trace.hidden_numbers) {
    header += ", forced (its hidden numbers are in --format jsonl)";
  } else if (trace.python_seed) {
    header += fmt::format(", python_seed {}", *trace.python_seed);
  }
  return header + "\n";
}

void replay_one(Replay* replay, const ScheduleTrace& trace, std::uint64_t index) {
  if (replay != nullptr)
    replay->add(index, trace.text, trace.python_seed,
                trace.hidden_numbers ? &*trace.hidden_numbers : nullptr);
}

}  // namespace

void write_schedule_traces(const SchedulePlans& cells, TraceForm form,
                           const TraceFileOptions& options) {
  if (form != TraceForm::kText && form != TraceForm::kJson)
    wrong_use("traces of a schedule are written as text or as JSON lines");
  OutputFile file(options.output);
  std::uint64_t index = 0, written = 0;
  for (const auto& plan : cells) {
    for (std::uint64_t t = 0; t < plan->traces() && written < options.count; ++t, ++index) {
      if (index < options.first_index) continue;
      const ScheduleTrace trace = whole_trace(*plan, options.seed, t);
      replay_one(options.replay, trace, index);
      if (form == TraceForm::kJson) {
        file.write(json_of(*plan, trace, index, t, options.beliefs));
      } else {
        if (written > 0) file.write("\n");
        if (options.headers) file.write(header_of(*plan, trace, options.seed, index));
        file.write(trace.text);
      }
      ++written;
    }
  }
  file.commit();
}

void replay_schedule_trace(Replay& replay, const SchedulePlan& plan, std::uint64_t seed,
                           std::uint64_t trace, std::uint64_t index) {
  replay_one(&replay, whole_trace(plan, seed, trace), index);
}

}  // namespace shellgame
