// What a model was made or trained for, in its directory: task.json. Evaluation and probes of a
// model take it as their task unless another is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shellgame/episodes/data_kind.h"

namespace shellgame {

inline constexpr const char* kTaskRecord = "task.json";

struct TaskRecord {
  DataSpec data;
  // How far it was trained, on the first axis of its data (axis: "commands"): the longest segment
  // that a gradient went through, and the longest stream that was read. 0: not trained, or not
  // known.
  std::string axis = {};
  std::uint64_t segment = 0, longest = 0;
};

// The larger end of an axis' value: 40 of "3-40"; 0 for what is no number.
std::uint64_t longest_of(const std::string& value);
std::string task_record_text(const TaskRecord& record);
// Of a model's directory; nothing where it has none. Throws InputError for a file that is none.
std::optional<TaskRecord> read_task_record(const std::string& model);
// "trained on up to 64 commands, streams of up to 2048"; empty if it was not.
std::string trained_words(const TaskRecord& record);

}  // namespace shellgame
