#include "shellgame/report/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "shellgame/report/xml_text.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kDeepest = 3;  // SWEEP/SETTINGS/seed-0, and one more

// "seed-10" after "seed-9".
bool before(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      const std::size_t from = std::min(text.find_first_not_of('0', at), text.size());
      at = from;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

bool is_run(const std::string& directory) { return fs::exists(directory + "/experiment.toml"); }

void gather(const std::string& directory, int deep, std::vector<std::string>& runs) {
  if (is_run(directory)) {
    runs.push_back(directory);
    return;
  }
  if (deep == kDeepest) return;
  std::vector<std::string> below;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.is_directory(error)) below.push_back(entry.path().filename().string());
  }
  std::ranges::sort(below, before);
  for (const std::string& name : below) gather(directory + "/" + name, deep + 1, runs);
}

Json read_json(const std::string& path) { return parse_ordered_json(read_file(path), path); }

// Null if there is no such file.
Json read_optional(const std::string& path) { return fs::exists(path) ? read_json(path) : Json(); }

std::string text_of_value(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* array = node.as_array()) {
    std::string out;
    for (const toml::node& item : *array) out += (out.empty() ? "" : ", ") + text_of_value(item);
    return "[" + out + "]";
  }
  return "";
}

void flatten(const toml::node& node, const std::string& key, std::vector<Setting>& settings) {
  const auto below = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  const auto* array = node.as_array();
  if (const auto* table = node.as_table()) {
    for (const auto& [name, item] : *table) flatten(item, below(std::string(name.str())), settings);
  } else if (array != nullptr && !array->empty() && array->is_homogeneous<toml::table>()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      flatten((*array)[i], below(std::to_string(i)), settings);
    }
  } else {
    settings.push_back({key, text_of_value(node), node.source().begin.line});
  }
}

std::string value_of(const std::vector<Setting>& settings, const std::string& key) {
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? "" : found->value;
}

Course read_course(const std::string& path, std::vector<std::string>& passed_over) {
  Course course;
  const auto visit = [&](const MetricsLine& metrics) {
    const Json& line = metrics.value;
    if (const auto cells = line.find("evaluation"); cells != line.end()) {
      if (cells->is_array()) course.evaluations.emplace_back(metrics.step, *cells);
      return;
    }
    course.step.push_back(static_cast<double>(metrics.step));
    course.stage.push_back(number_of(line, "stage"));
    course.loss.push_back(number_of(line, "loss"));
    course.accuracy.push_back(number_of(line, "accuracy"));
    course.learning_rate.push_back(number_of(line, "learning_rate"));
    course.tokens.push_back(number_of(line, "tokens"));
    course.tokens_per_second.push_back(number_of(line, "tokens_per_second"));
  };
  each_metrics_line(read_file(path), path, visit,
                    [&](const std::string& sentence) { passed_over.push_back(sentence); });
  return course;
}

// Of the folders "step-00000012" the largest number.
std::int64_t newest_checkpoint(const std::string& directory) {
  std::int64_t newest = -1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory + "/checkpoints", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("step-")) continue;
    std::int64_t step = 0;
    const auto [end, wrong] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
    if (wrong == std::errc() && end == name.data() + name.size()) newest = std::max(newest, step);
  }
  return newest;
}

}  // namespace

const std::vector<std::string>& probe_names() {
  static const std::vector<std::string> names = {"find-tracker", "betas", "keys", "intervene",
                                                 "state"};
  return names;
}

std::vector<std::string> run_directories(const std::string& directory) {
  if (!fs::is_directory(directory)) {
    wrong_use("'{}' must be the directory of a run or a sweep, but it is not a directory",
              directory);
  }
  std::string path = directory;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::vector<std::string> runs;
  gather(path, 0, runs);
  if (runs.empty()) {
    wrong_use(
        "'{}' must be the directory of a run or of a sweep, and there is no experiment.toml in it "
        "or below",
        directory);
  }
  return runs;
}

RunRecord read_run(const std::string& directory) {
  RunRecord run;
  run.directory = directory;
  const std::string file = directory + "/experiment.toml";
  run.toml = read_file(file);
  flatten(parse_toml(run.toml, file), "", run.settings);
  run.name = value_of(run.settings, "name");
  run.arm = value_of(run.settings, "arm");
  run.seed = value_of(run.settings, "seed");
  run.environment = read_json(directory + "/environment.json");
  if (run.environment.is_array() && !run.environment.empty())  // one a start
    run.environment = Json(run.environment.back());
  run.result = read_optional(directory + "/result.json");
  if (!run.result.is_null() && !run.result.is_object()) {
    fail("'{}/result.json' must be a JSON object, as 'shellgame train' writes it", directory);
  }
  run.evaluation = read_optional(directory + "/evaluation.json");
  const bool cells =
      run.evaluation.is_null() ||
      (run.evaluation.is_array() &&
       std::ranges::all_of(run.evaluation, [](const Json& c) { return c.is_object(); }));
  if (!cells) {
    fail("'{}/evaluation.json' must be a list of cells, as 'shellgame train' writes it", directory);
  }
  const std::string metrics = directory + "/metrics.jsonl";
  if (run.complete() || fs::exists(metrics)) run.course = read_course(metrics, run.passed_over);
  for (const std::string& name : probe_names()) {
    const Json probe = read_optional(fmt::format("{}/probes/{}.json", directory, name));
    if (!probe.is_null()) run.probes[name] = probe;
  }
  run.checkpoint = newest_checkpoint(directory);
  return run;
}

std::vector<RunRecord> read_runs(const std::vector<std::string>& directories) {
  std::vector<RunRecord> runs;
  std::set<std::string> seen;
  for (const std::string& directory : directories) {
    const std::string command = text_of(read_optional(directory + "/sweep.json"), "command");
    for (const std::string& path : run_directories(directory)) {
      if (!seen.insert(fs::weakly_canonical(path).string()).second) continue;
      runs.push_back(read_run(path));
      runs.back().sweep_command = command;
    }
  }
  return runs;
}

}  // namespace shellgame
