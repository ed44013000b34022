// What tables are made from: files of results (JSON, lines of JSON, CSV) as flat records.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

// A part of a record that several records may share: what a sweep says of a combination of
// settings, of a run, or of a cell. Its address is its identity.
using TablePart = std::shared_ptr<const nlohmann::ordered_json>;

struct TableRecord {
  std::vector<TablePart> parts = {};

  // The value of a field and the part that has it; "a.b" steps into objects if there is no field
  // "a.b". Null if no part has it.
  std::pair<const nlohmann::ordered_json*, TablePart> find(const std::string& field) const;
};

// The records of a file. `at` leads into the JSON by keys and places ("steps", "runs.0"); what
// stands there is a list of objects, or one object. What a sweep wrote (docs/formats.md) gives a
// record for each cell of each seed: settings by their keys ("arm", "task.group"), the run's
// numbers ("seed", "tokens", "parameters", its environment's keys), then the cell's ("cell" is its
// name). Throws InputError.
std::vector<TableRecord> read_table_records(const std::string& path, const std::string& at);

}  // namespace shellgame
