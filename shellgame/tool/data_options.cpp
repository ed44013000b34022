#include "shellgame/tool/data_options.h"

#include <algorithm>

#include "shellgame/episodes/schedule_source.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"

namespace shellgame {

DataOptions::DataOptions(CLI::App* command) : given_(std::make_shared<Given>()) {
  const std::string group = "Data (by default those of the run or the model, else traces)";
  std::string kinds;
  for (const std::string& name : data_kind_names()) kinds += (kinds.empty() ? "" : ", ") + name;
  command->add_option("--kind", given_->kind, "the kind of data: " + kinds + ", or a plug-in's")
      ->type_name("KIND")
      ->group(group);
  command
      ->add_option(
          "--data", given_->file,
          "a file of questions, as 'trace --format questions' writes it (docs/formats.md); its "
          "lines from the first on, whatever the seed")
      ->type_name("FILE")
      ->group(group);
  given_->schedule.add(command);
  CLI::Option* set = command->get_option("--set");
  set->description(
      "a key of the data (modulus=5, length=32,64), a schedule's parameter or endings (N=1,4, "
      "ending=c); several in one (N=8,ending=c) or one by one; several values of an axis are "
      "cells");
  set->group(group);
  given_->task.emplace(command, std::vector<std::string>{"commands", "spacing", "stages"});
}

std::string DataOptions::kind(const DataSpec* base) const {
  if (!given_->file.empty()) return "file";
  if (!given_->kind.empty()) return given_->kind;
  if (given_->task->has_file() || base == nullptr) return "traces";
  return base->kind;
}

bool DataOptions::says_something() const {
  return !given_->kind.empty() || !given_->file.empty() || !given_->schedule.files.empty() ||
         given_->task->has_file();
}

void DataOptions::add_settings(const DataKind& kind, DataSpec& spec, DataAxes& all) const {
  for (const TaskKey& key : task_keys()) {
    const std::string* text = given_->task->given(key.name);
    if (text == nullptr) continue;
    if (kind.find(key.name) == nullptr)
      wrong_use("--{} is for traces, and what is asked here is of the kind '{}'", key.name,
                kind.name);
    spec.settings[key.name] = *text;
  }
  for (const auto& [axis, values] : axes) {
    if (values.empty()) continue;
    if (std::ranges::find(kind.axes, axis) == kind.axes.end())
      wrong_use("data of the kind '{}' have {}, not --{}", kind.name,
                kind.axes.empty()
                    ? "no axes"
                    : fmt::format("--set {}=...", fmt::join(kind.axes, "=..., --set ")),
                axis == "length" ? "lengths" : axis);
    all[axis] = values;
  }
  for (const std::string& several : given_->schedule.settings) {
    for (const std::string& setting : split_settings(several)) {
      const auto [key, value] = key_and_value(setting);
      if (std::ranges::find(kind.axes, key) == kind.axes.end()) {
        spec.settings[key] = value;
      } else {
        all[key].clear();
        for (const std::string_view part : parts_between(value, ',')) all[key].emplace_back(part);
      }
    }
  }
}

std::vector<SharedData> DataOptions::schedule_cells() const {
  for (const TaskKey& key : task_keys()) {
    if (given_->task->given(key.name) != nullptr)
      wrong_use("--{} is for drawn traces, and what is asked here is a schedule", key.name);
  }
  const auto has_values = [](const auto& axis) { return !axis.second.empty(); };
  if (given_->task->has_file() || !given_->file.empty() || !given_->kind.empty() ||
      std::ranges::any_of(axes, has_values))
    wrong_use("--schedule takes no --task, --data, --kind, --commands, --spacing or --lengths");
  std::vector<SharedData> points;
  for (auto& cell : given_->schedule.cells())
    points.push_back(std::make_shared<ScheduleData>(std::move(cell)));
  return points;
}

std::vector<SharedData> DataOptions::cells(const DataSpec* base, const DataAxes& base_axes,
                                           std::vector<std::string>& notes) const {
  if (given_->schedule.given()) return schedule_cells();
  const std::string name = kind(base);
  if (!given_->kind.empty() && given_->kind != name)
    wrong_use("--data gives data of the kind 'file', and --kind is '{}'", given_->kind);
  if (given_->task->has_file() && name != "traces")
    wrong_use("--task is for traces, and what is asked here is of the kind '{}'", name);
  const DataKind& known = find_data_kind(name);
  const bool inherits = base != nullptr && base->kind == name && !given_->task->has_file();
  DataSpec spec = inherits ? *base : DataSpec{.kind = name};
  DataAxes all = inherits ? base_axes : DataAxes();
  if (!given_->file.empty()) spec = {.kind = name, .settings = {{"file", given_->file}}};
  if (given_->task->has_file()) {
    // Of a curriculum its last stage, for that is what it leads to.
    Task task = given_->task->resolve_unchecked(Task());
    if (!task.stages.empty()) {
      task.commands = task.stages.back().commands;
      task.spacing = task.stages.back().spacing;
    }
    for (const DataKey& key : known.keys)
      spec.settings[key.name] = find_task_key(key.name)->get(task);
  }
  add_settings(known, spec, all);
  std::vector<SharedData> points;
  for (DataCell& cell : data_grid(spec, all, notes)) points.push_back(std::move(cell.data));
  return points;
}

}  // namespace shellgame
