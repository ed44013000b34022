#include "shellgame/train/sweep_evaluation.h"

#include <algorithm>
#include <filesystem>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

// What a run keeps: an object with a command and its cells.
SweepJson kept_cells(const SweepEvaluationOptions& options, const std::string& file) {
  if (!fs::exists(file)) return SweepJson();
  const SweepJson kept = parse_ordered_json(read_file(file), file);
  if (!kept.is_object() || !kept.contains("command") || !kept["command"].is_string() ||
      !kept.contains("cells") || !kept["cells"].is_array())
    throw InputError(file, "an evaluation of a sweep must have a command and cells");
  if (kept["command"] != options.command)
    wrong_use("'{}' must be an answer to this command, and is one to '{}': choose another --name",
              file, kept["command"].get<std::string>());
  return kept["cells"];
}

// Without what depends on the moment, and of the measures those that are asked for.
SweepJson wanted(const SweepEvaluationOptions& options, SweepJson cells) {
  for (SweepJson& cell : cells) {
    for (const char* key : {"seconds", "peak_memory_bytes", "model", "shown"}) cell.erase(key);
    if (options.measures.empty()) continue;
    SweepJson kept;
    for (const auto& [key, value] : cell.items()) {
      const bool measure = std::ranges::find(options.measures, key) != options.measures.end();
      if (measure || is_cell_axis(cell, key) || key == "trained" || key == "chance" ||
          key == "traces")
        kept[key] = value;
    }
    cell = kept;
  }
  return cells;
}

SweepJson cells_of(const SweepEvaluationOptions& options, const std::string& run) {
  const std::string folder = run + "/evaluations", file = folder + "/" + options.name + ".json";
  SweepJson cells = kept_cells(options, file);
  if (!cells.is_null()) return cells;
  cells = wanted(options, options.evaluate(run));
  fs::create_directories(folder);
  write_file(file, SweepJson{{"command", options.command}, {"cells", cells}}.dump(1) + "\n");
  return cells;
}

}  // namespace

SweepJson probe_cells(const SweepJson& report) {
  SweepJson cells = report.at("cells");
  for (SweepJson head : report.at("heads")) {
    head["axes"] = {"layer", "head"};
    cells.push_back(std::move(head));
  }
  return cells;
}

SweepJson evaluate_sweep(const SweepEvaluationOptions& options) {
  const std::string file = options.sweep + "/sweep.json";
  if (!fs::exists(file))
    wrong_use("--sweep must be the directory of a sweep that has ended, and '{}' is not there",
              file);
  SweepJson all = parse_ordered_json(read_file(file), file);
  const auto wrong = [&] { return InputError(file, "must be as 'shellgame sweep' writes it"); };
  if (!all.is_object() || !all.contains("runs") || !all["runs"].is_array()) throw wrong();
  std::size_t count = 0, done = 0;
  for (const SweepJson& entry : all["runs"]) {
    if (!entry.is_object()) throw wrong();
    if (!entry.contains("directories")) continue;
    if (!entry["directories"].is_array()) throw wrong();
    count += entry["directories"].size();
  }
  for (SweepJson& entry : all["runs"]) {
    std::vector<SweepRow> rows;
    for (const SweepJson& directory : entry.value("directories", SweepJson::array())) {
      if (!directory.is_string()) throw wrong();
      const std::string run = options.sweep + "/" + directory.get<std::string>();
      SweepRow& row = rows.emplace_back();
      const SweepJson cells = cells_of(options, run);
      row.cells.assign(cells.begin(), cells.end());
      say("asked: {}/{} {}", ++done, count, run);
    }
    entry["cells"] = sweep_cells(rows);
  }
  all["evaluation"] = {{"command", options.command}};
  return all;
}

}  // namespace shellgame
