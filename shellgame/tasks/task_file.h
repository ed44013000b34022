// Task specs as TOML. Every key of task_keys.h may stand there, and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "shellgame/tasks/task.h"

namespace shellgame {

// Reads a spec over the defaults. Throws InputError with file, line and key. `stages` may also be
// an array of tables {commands, spacing, traces}; lists may be arrays of strings.
Task parse_task(std::string_view toml, const std::string& file);
// Without the checks that depend on several keys, for a caller who changes keys before
// check_task().
Task parse_unchecked_task(std::string_view toml, const std::string& file);

// The spec with all keys, as TOML that parse_task reads back to the same task.
std::string write_task(const Task& task);

}  // namespace shellgame
