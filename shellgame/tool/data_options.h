// What a model is asked about, as `evaluate` and `probe` take it: a kind of data with its keys, a
// file of questions, or schedules; what is not given comes from the run or the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shellgame/episodes/task_record.h"
#include "shellgame/tool/command.h"

namespace shellgame {

class DataOptions {
 public:
  // --kind, --set, --data, --schedule, --task and the keys of a task. Commands add axes of their
  // own
  // (--commands) by `axes`.
  explicit DataOptions(CLI::App* command);

  DataAxes axes = {};  // given by options of the command

  // The data that are asked for: every combination of the axes. `base`: the task of the run or the
  // model, null if there is none; `base_axes`: where it is evaluated, if nothing is said. Throws
  // UsageError or InputError.
  std::vector<SharedData> cells(const DataSpec* base, const DataAxes& base_axes,
                                std::vector<std::string>& notes) const;
  // Whether the task is not, or not only, that of the run or the model.
  bool says_something() const;
  const std::vector<std::string>& schedules() const { return given_->schedule.files; }
  // The kind that is asked for.
  std::string kind(const DataSpec* base) const;

 private:
  struct Given {
    std::string kind, file;
    ScheduleOptions schedule;  // and --set
    std::optional<TaskOptions> task;
  };
  std::vector<SharedData> schedule_cells() const;
  // What was given for keys, and for axes among them.
  void add_settings(const DataKind& kind, DataSpec& spec, DataAxes& all) const;
  std::shared_ptr<Given> given_;
};

}  // namespace shellgame
