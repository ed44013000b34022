// Schedules as a kind of data: [task] kind = "schedule", file = "cycle.toml", set = "N=8,ending=c".
// One cell; several are several tasks of a stage. To train on, each index draws its own outcomes;
// to be judged on, the traces are those that the schedule counts.
#include <fmt/format.h>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/episodes/schedule_source.h"

namespace shellgame {
namespace {

std::string cell_words_of(const SchedulePlan& plan) { return axes_words(schedule_axes(plan)); }

SharedData schedule_data(const DataSettings& settings) {
  const auto value = [&](const char* key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  const std::string file = value("file");
  if (file.empty()) wrong_use("data of the kind 'schedule' must name their file");
  const auto cells = schedule_cells(file, {value("set")});
  if (cells.size() != 1)
    throw DataKeyError(
        "set", fmt::format("set must leave one cell of '{}', not {}: {} and {}", file, cells.size(),
                           cell_words_of(*cells[0]), cell_words_of(*cells[1])));
  return std::make_shared<ScheduleData>(cells.front());
}

}  // namespace

DataKind schedule_kind() {
  return {.name = "schedule",
          .summary = "traces that are written down (docs/formats.md)",
          .keys = {{.name = "file",
                    .form = "FILE",
                    .help = "a schedule, or a certificate of the adversary",
                    .usual = "",
                    .is_file = true},
                   {.name = "set",
                    .form = "NAME=VALUE,...",
                    .help = "numbers of its parameters and its ending, so that one cell is left",
                    .usual = ""}},
          .axes = {},
          .make = schedule_data};
}

}  // namespace shellgame
