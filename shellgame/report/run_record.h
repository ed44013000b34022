// A run's directory as a report reads it: what was asked, what was measured, where it ran. An
// unfinished run has no result; its metrics so far and its newest checkpoint are there.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

// A key of experiment.toml with all tables before it ("stages.0.batch"), its value as text, and
// its line in the file (from 1; a value inside a list of values has its list's).
struct Setting {
  std::string key, value;
  std::size_t line = 0;
};

// metrics.jsonl: one entry a step in each list. NaN where a line lacks the number.
struct Course {
  std::vector<double> step, stage, loss, accuracy, learning_rate, tokens, tokens_per_second;
  // Evaluations on the way: the step, and the cells.
  std::vector<std::pair<double, nlohmann::ordered_json>> evaluations = {};
};

struct RunRecord {
  std::string directory;
  std::string toml;               // experiment.toml, whole
  std::vector<Setting> settings;  // of it
  std::string name, arm, seed;    // of these, as text
  Course course;
  std::vector<std::string> passed_over;  // lines of metrics.jsonl that are damaged: where, and why
  nlohmann::ordered_json environment, result, evaluation;  // null: not there (yet)
  std::map<std::string, nlohmann::ordered_json> probes;    // by name, from DIRECTORY/probes
  std::map<std::string, std::string> refused;              // probes that a model cannot have: why
  std::int64_t checkpoint = -1;                            // the newest one's step; -1: none
  std::string sweep_command;                               // of the sweep it belongs to

  bool complete() const { return result.is_object(); }
};

// The names of what `shellgame probe NAME --format json` writes, where a run keeps them:
// DIRECTORY/probes/NAME.json.
const std::vector<std::string>& probe_names();

// The runs that a directory is or holds (a sweep: up to three folders below), in the order of
// their names, numbers by size. Throws UsageError if there is none.
std::vector<std::string> run_directories(const std::string& directory);

// Throws Error, with the file's name, if a file is missing that every run has, or is damaged (a
// damaged line of metrics.jsonl is passed over).
RunRecord read_run(const std::string& directory);

// All runs of all directories; a run that is named twice is read once.
std::vector<RunRecord> read_runs(const std::vector<std::string>& directories);

}  // namespace shellgame
