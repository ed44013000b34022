#include "shellgame/train/sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/train/sweep_statistics.h"

namespace shellgame {
namespace {

// Null if there is no such file.
SweepJson read_if_there(const std::string& path) {
  if (!std::filesystem::exists(path)) return SweepJson();
  return parse_ordered_json(read_file(path), path);
}

SweepJson read_cells(const std::string& directory) {
  SweepJson cells = read_if_there(directory + "/evaluation.json");
  for (const SweepJson& cell : cells) {
    if (!cell.is_object() || !cell.value("spacing", SweepJson(0)).is_number() ||
        !cell.value("positions", SweepJson::array()).is_array())
      throw InputError(directory + "/evaluation.json",
                       "an evaluation must be a list of cells, as 'shellgame train' writes it");
  }
  return cells;
}

std::string text_at(const SweepJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Fills in what environment.json says of a run's starts.
void add_environments(SweepResults& results, SweepRow& row, const std::string& directory) {
  SweepJson starts;
  try {
    starts = read_if_there(directory + "/environment.json");
  } catch (const Error& error) {
    say("note: {}", error.what());
  }
  if (starts.is_object()) starts = SweepJson::array({starts});
  for (SweepJson start : starts) {
    if (!start.is_object()) continue;
    row.command = text_at(start, "command");
    row.started = text_at(start, "started");
    start.erase("command");
    start.erase("started");
    const auto found = std::ranges::find(results.environments, start);
    const auto place = static_cast<std::size_t>(found - results.environments.begin());
    if (found == results.environments.end()) results.environments.push_back(start);
    if (row.environments.empty() || row.environments.back() != place)
      row.environments.push_back(place);
  }
}

SweepRow row_of(const SweepOptions& options, const SweepRun& run, const SweepJson& result) {
  SweepRow row;
  row.seed = run.seed;
  row.directory = run.directory.substr(options.run.size() + 1);
  row.parameters = result.value("parameters", std::int64_t{0});
  row.tokens = result.value("tokens", std::int64_t{0});
  row.steps = result.value("steps", std::int64_t{0});
  row.seconds = result.value("seconds", 0.0);
  row.processor_seconds = result.value("processor_seconds", 0.0);
  row.train_accuracy = result.value("accuracy", 0.0);
  row.cut = result.contains("cut");
  row.from = run.from;
  return row;
}

// One cell over the rows that have it: its axes, every measure as a list by row (null where a row
// has none), and the accuracy of each reveal.
SweepJson cell_json(const std::vector<SweepRow>& rows, std::size_t c) {
  SweepJson cell;
  for (const SweepRow& row : rows) {
    if (row.cells.size() <= c) continue;
    if (cell.is_null()) {
      cell = {{"name", cell_name(row.cells[c])}};
      if (row.cells[c].contains("trained")) cell["trained"] = row.cells[c]["trained"];
      cell["axes"] = cell_axes(row.cells[c]);
      for (const std::string& key : cell_axes(row.cells[c])) cell[key] = row.cells[c][key];
    }
    for (const auto& [key, value] : row.cells[c].items()) {
      if (value.is_number() && !is_cell_axis(cell, key)) cell[key] = SweepJson::array();
    }
  }
  bool positions = false;
  for (auto& [key, list] : cell.items()) {
    if (key == "name" || key == "trained" || is_cell_axis(cell, key)) continue;
    for (const SweepRow& row : rows)
      list.push_back(row.cells.size() > c ? row.cells[c].value(key, SweepJson()) : SweepJson());
  }
  SweepJson by_position = SweepJson::array();
  for (const SweepRow& row : rows) {
    SweepJson list = SweepJson::array();
    if (row.cells.size() > c && row.cells[c].contains("positions")) {
      positions = true;
      for (const SweepJson& position : row.cells[c]["positions"])
        list.push_back(position.is_object() ? position.value("accuracy", SweepJson())
                                            : SweepJson());
    }
    by_position.push_back(list);
  }
  if (positions) cell["by_position"] = by_position;
  return cell;
}

SweepJson entry_json(const SweepEntry& entry) {
  SweepJson json = {{"settings", entry.settings}};
  // Rows without an evaluation are not named by an empty list of cells.
  for (const char* key : {"seeds", "seconds", "processor_seconds", "tokens", "steps",
                          "train_accuracy", "failed", "cells"})
    json[key] = SweepJson::array();
  for (const SweepRow& row : entry.rows) {
    json["seeds"].push_back(row.seed);
    json["seconds"].push_back(row.seconds);
    json["processor_seconds"].push_back(row.processor_seconds);
    json["tokens"].push_back(row.tokens);
    json["steps"].push_back(row.steps);
    json["train_accuracy"].push_back(row.train_accuracy);
    json["parameters"] = row.parameters;
    json["directories"].push_back(row.directory);
    json["environments"].push_back(row.environments);
    json["commands"].push_back(row.command);
    json["started"].push_back(row.started);
    json["from"].push_back(row.from.empty() ? SweepJson() : SweepJson(row.from));
  }
  for (const SweepFailure& failure : entry.failed)
    json["failed"].push_back({{"seed", failure.seed}, {"why", failure.why}});
  json["cells"] = sweep_cells(entry.rows);
  return json;
}

}  // namespace

SweepJson sweep_cells(const std::vector<SweepRow>& rows) {
  std::size_t count = 0;
  for (const SweepRow& row : rows) count = std::max(count, row.cells.size());
  SweepJson cells = SweepJson::array();
  for (std::size_t c = 0; c < count; ++c) cells.push_back(cell_json(rows, c));
  return cells;
}

SweepJson read_run_result(const std::string& directory) {
  SweepJson result = read_if_there(directory + "/result.json");
  const bool numbers =
      result.is_null() ||
      (result.is_object() &&
       std::ranges::all_of(result, [](const SweepJson& value) { return value.is_number(); }));
  if (!numbers)
    throw InputError(directory + "/result.json", "a result must be an object of numbers");
  return result;
}

SweepResults gather_sweep(const SweepOptions& options, std::vector<SweepRun>& runs) {
  SweepResults results{.command = sweep_command(options),
                       .experiment = options.experiment,
                       .seeds = options.seeds_text};
  for (SweepRun& run : runs) {
    if (results.entries.empty() || results.entries.back().settings != run.settings)
      results.entries.push_back({.settings = run.settings});
    SweepEntry& entry = results.entries.back();
    SweepJson result, cells;
    try {
      result = read_run_result(run.directory);
      cells = read_cells(run.directory);
    } catch (const Error& error) {
      run.ending = error.what();
      result = SweepJson();
    }
    if (!result.is_object()) {
      entry.failed.push_back({run.seed, run.ending});
      continue;
    }
    SweepRow row = row_of(options, run, result);
    if (cells.is_array()) row.cells.assign(cells.begin(), cells.end());
    add_environments(results, row, run.directory);
    entry.rows.push_back(std::move(row));
  }
  std::vector<int> weights(results.environments.size());
  for (const SweepEntry& entry : results.entries) {
    for (const SweepRow& row : entry.rows) {
      for (const std::size_t place : row.environments) ++weights[place];
    }
  }
  results.differences = environments_that_differ(results.environments, weights);
  return results;
}

SweepJson sweep_json(const SweepResults& results) {
  SweepJson runs = SweepJson::array();
  for (const SweepEntry& entry : results.entries) runs.push_back(entry_json(entry));
  return {{"command", results.command},
          {"experiment", results.experiment},
          {"seeds", results.seeds},
          {"environments", results.environments},
          {"differences", results.differences},
          {"runs", runs}};
}

bool any_failed(const SweepResults& results) {
  return std::ranges::any_of(results.entries,
                             [](const SweepEntry& entry) { return !entry.failed.empty(); });
}

double common_chance(const SweepResults& results) {
  std::set<double> chances;
  for (const SweepEntry& entry : results.entries) {
    for (const SweepRow& row : entry.rows) {
      for (const SweepJson& cell : row.cells) {
        if (const auto found = cell.find("chance"); found != cell.end() && found->is_number())
          chances.insert(found->get<double>());
      }
    }
  }
  return chances.size() == 1 ? *chances.begin() : 0;
}

}  // namespace shellgame
