#include "shellgame/episodes/task_record.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/read_json.h"

namespace shellgame {

std::uint64_t longest_of(const std::string& value) {
  const std::size_t dash = value.find('-', 1);
  const std::string end = dash == std::string::npos ? value : value.substr(dash + 1);
  std::uint64_t number = 0;
  const auto read = std::from_chars(end.data(), end.data() + end.size(), number);
  return read.ec == std::errc() && read.ptr == end.data() + end.size() ? number : 0;
}

std::string task_record_text(const TaskRecord& record) {
  nlohmann::ordered_json json = {{"task", spec_json(record.data, /*all=*/false)}};
  if (record.longest > 0)
    json["trained"] = {
        {"axis", record.axis}, {"segment", record.segment}, {"longest", record.longest}};
  return json.dump(1) + "\n";
}

std::optional<TaskRecord> read_task_record(const std::string& model) {
  const std::string file = model + "/" + kTaskRecord;
  if (!std::filesystem::exists(file)) return {};
  const nlohmann::json json = parse_json(read_file(file), file);
  if (!json.is_object() || !json.contains("task") || !json["task"].is_object())
    throw InputError(file, "the record of a model's task must have a table 'task'");
  TaskRecord record;
  try {
    record.data = spec_of_json(json["task"]);
  } catch (const UsageError& error) {
    throw InputError(file, error.what());
  }
  const nlohmann::json trained = json.value("trained", nlohmann::json());
  if (trained.is_null()) return record;
  const auto number = [&](const char* key) {
    return trained.contains(key) && trained[key].is_number_unsigned();
  };
  if (!trained.is_object() || !trained.contains("axis") || !trained["axis"].is_string() ||
      !number("segment") || !number("longest"))
    throw InputError(file, "'trained' must have an axis and two numbers, segment and longest");
  record.axis = trained["axis"].get<std::string>();
  record.segment = trained["segment"].get<std::uint64_t>();
  record.longest = trained["longest"].get<std::uint64_t>();
  return record;
}

std::string trained_words(const TaskRecord& record) {
  if (record.longest == 0) return "";
  const auto words = [&](std::uint64_t number) {
    return axes_words({{record.axis, fmt::format("{}", number)}});
  };
  std::string text = fmt::format("trained on up to {}", words(record.segment));
  if (record.longest > record.segment)
    text += fmt::format(" with a gradient, streams of up to {}", words(record.longest));
  return text;
}

}  // namespace shellgame
