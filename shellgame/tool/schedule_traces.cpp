#include "shellgame/tool/schedule_traces.h"

#include <fmt/format.h>

#include <optional>

#include "shellgame/beliefs/running_belief.h"
#include "shellgame/episodes/file_source.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/trace.h"
#include "shellgame/tool/verify.h"

namespace shellgame {
namespace {

// One trace, made whole.
struct WholeScheduleTrace {
  Program program;
  std::string text;
  std::vector<RevealMark> marks;
  std::vector<ValueId> states;
  std::optional<std::uint32_t> python_seed;
  std::optional<std::vector<double>> hidden_numbers;
};

WholeScheduleTrace whole_trace(const SchedulePlan& plan, std::uint64_t seed, std::uint64_t trace) {
  WholeScheduleTrace made;
  ScheduleStream stream(plan, seed, trace);
  stream.next(made.program, plan.commands() + 1, &made.states);
  made.text = render(made.program, &made.marks);
  if (plan.is_uncertain()) made.python_seed = stream.python_seed();
  if (plan.forced() && plan.is_uncertain()) made.hidden_numbers = stream.hidden_numbers();
  return made;
}

std::string json_of(const SchedulePlan& plan, const WholeScheduleTrace& trace, std::uint64_t index,
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

}  // namespace

void write_schedule_traces(const ScheduleTraces& options) {
  const bool json = options.format == "jsonl", questions = options.format == "questions";
  if (!json && !questions && options.format != "text")
    wrong_use("--schedule needs --format text, jsonl or questions, not {}", options.format);
  if (options.with_beliefs && !json)
    wrong_use("--with-beliefs needs --format jsonl, not {}", options.format);
  std::optional<Replay> replay;
  if (options.verify) replay.emplace(options.replay);
  const auto tokenizer = questions ? open_tokenizer(options.tokenizer) : nullptr;
  OutputFile file(options.output);
  std::uint64_t index = 0, written = 0;
  for (const auto& plan : options.cells) {
    std::optional<ScheduleSource> source;
    if (questions) source.emplace(plan, *tokenizer, SourceOptions{.seed = options.seed});
    for (std::uint64_t t = 0; t < plan->traces() && written < options.count; ++t, ++index) {
      if (index < options.first_index) continue;
      const WholeScheduleTrace trace = whole_trace(*plan, options.seed, t);
      if (replay)
        replay->add(index, trace.text, trace.python_seed,
                    trace.hidden_numbers ? &*trace.hidden_numbers : nullptr);
      if (json) {
        file.write(json_of(*plan, trace, index, t, options.with_beliefs));
      } else if (questions) {
        Piece piece;
        source->whole(t, piece);
        file.write(question_line(piece, source->has_beliefs()));
      } else {
        if (written > 0) file.write("\n");
        if (!options.bare) {
          std::string header = fmt::format("# shellgame trace: {}, seed {}, index {}",
                                           axes_words(schedule_axes(*plan)), options.seed, index);
          if (trace.hidden_numbers) {
            header += ", forced (its hidden numbers are in --format jsonl)";
          } else if (trace.python_seed) {
            header += fmt::format(", python_seed {}", *trace.python_seed);
          }
          file.write(header + "\n");
        }
        file.write(trace.text);
      }
      ++written;
    }
  }
  file.commit();
  if (replay) report_replay(replay->finish(), "text", ReplayPlace::kMessages);
}

}  // namespace shellgame
