// Traces of a schedule as a file: those of its cells, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/episodes/trace_writer.h"
#include "shellgame/tasks/schedule_plan.h"

namespace shellgame {

using SchedulePlans = std::vector<std::shared_ptr<const SchedulePlan>>;

// As text or as JSON lines; index and count go over all cells.
void write_schedule_traces(const SchedulePlans& cells, TraceForm form,
                           const TraceFileOptions& options);
// Gives one trace of a cell to the replay.
void replay_schedule_trace(Replay& replay, const SchedulePlan& plan, std::uint64_t seed,
                           std::uint64_t trace, std::uint64_t index);

}  // namespace shellgame
