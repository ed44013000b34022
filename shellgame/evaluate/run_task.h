// What a run was trained on, from the resolved experiment in its directory.
#pragma once

#include <optional>
#include <string>

#include "shellgame/evaluate/sequence_rows.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

struct RunTask {
  std::optional<Task> task;              // the table [task], not yet checked
  std::optional<SequenceSpec> sequence;  // or the table [sequence]
};

// Reads DIR/experiment.toml; other tables are left alone. Throws InputError unless exactly one of
// the two is there and right.
RunTask read_run_task(const std::string& directory);
RunTask parse_run_task(const std::string& toml, const std::string& file);

}  // namespace shellgame
