// `shellgame trace --schedule`: the traces of a schedule's cells, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/replay/replay.h"
#include "shellgame/tasks/schedule_plan.h"

namespace shellgame {

struct ScheduleTraces {
  std::vector<std::shared_ptr<const SchedulePlan>> cells;
  std::uint64_t count = 0, seed = 0, first_index = 0;  // over all cells
  std::string format, output, tokenizer;
  bool verify = false, bare = false, with_beliefs = false;
  ReplayOptions replay;
};

void write_schedule_traces(const ScheduleTraces& options);

}  // namespace shellgame
