// The keys of a task spec, declared once: the tool makes its options from this table, the TOML
// reader its keys, the documentation its text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/tasks/task.h"
#include "shellgame/text/number.h"

namespace shellgame {

struct TaskKey {
  std::string name;  // "full-reveal-period"; a TOML file may also write '_' for '-'
  std::string form;  // what a value looks like in help texts: "N", "none|branching|..."
  std::string help;
  std::function<void(Task&, const std::string&)>
      set;  // throws UsageError: what must hold, what was received
  std::function<std::string(const Task&)> get;
  bool is_number = false;                    // written in TOML without quotes, several as a list
  std::vector<DeclaredNumber> numbers = {};  // what is a number in it, with its bounds
};

// A key's value of a task as TOML and JSON both write it: 0.5, [0.1, 0.5], "print,equal".
std::string written_value(const TaskKey& key, const Task& task);

const std::vector<TaskKey>& task_keys();
// Nullptr for an unknown name.
const TaskKey* find_task_key(std::string_view name);

}  // namespace shellgame
