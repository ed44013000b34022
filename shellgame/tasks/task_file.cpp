#include "shellgame/tasks/task_file.h"

#include <map>

#include "shellgame/programs/render.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/python_number.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

class TaskReader {
 public:
  explicit TaskReader(const std::string& file) : file_(file) {}

  Task read(std::string_view text) {
    const toml::table table = parse_toml(text, file_);
    Task task;
    for (const auto& [key, node] : table) {
      const TaskKey* known = find_task_key(key.str());
      if (known == nullptr) unknown(std::string(key.str()), key.source());
      if (!places_.emplace(known->name, key.source()).second) {
        throw InputError(toml_place(file_, key.source()),
                         fmt::format("key '{}': a key must be given once", known->name));
      }
      const std::string value = text_of(known->name, node, node.is_array_of_tables());
      try {
        known->set(task, value);
      } catch (const UsageError& error) {
        throw InputError(toml_place(file_, key.source()),
                         fmt::format("key '{}': {}", known->name, error.what()));
      }
    }
    return task;
  }

  // Checks between keys; their sentences begin with the key that is to be changed.
  void check(const Task& task) const {
    try {
      check_task(task);
    } catch (const UsageError& error) {
      const std::string sentence = error.what();
      for (const auto& [name, source] : places_) {
        if (sentence.starts_with(name + " ")) {
          throw InputError(toml_place(file_, source), fmt::format("key '{}': {}", name, sentence));
        }
      }
      throw InputError(file_, sentence);
    }
  }

 private:
  [[noreturn]] void unknown(const std::string& key, const toml::source_region& source) const {
    std::vector<std::string> names;
    for (const TaskKey& known : task_keys()) names.push_back(known.name);
    const std::string near = nearest_name(key, names);
    throw InputError(toml_place(file_, source),
                     fmt::format("key '{}': a task has no such key{}", key,
                                 near.empty() ? "" : "; did you mean '" + near + "'?"));
  }

  // The text that the command line would have for the same value.
  std::string text_of(const std::string& key, const toml::node& node, bool tables) const {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return python_number(number->get());
    if (const auto* array = node.as_array()) {
      std::string joined;
      for (const toml::node& item : *array) {
        if (!joined.empty()) joined += key == "mixtures" ? "; " : ",";
        joined += tables || item.is_table() ? stage_text(key, item) : scalar_text(key, item);
      }
      return joined;
    }
    wrong_type(key, node);
  }

  std::string scalar_text(const std::string& key, const toml::node& item) const {
    if (item.is_array()) wrong_type(key, item);
    return text_of(key, item, false);
  }

  std::string stage_text(const std::string& key, const toml::node& item) const {
    const toml::table* table = item.as_table();
    if (key != "stages" || table == nullptr) wrong_type(key, item);
    std::string numbers[3];
    for (const auto& [name, node] : *table) {
      const std::string_view word = name.str();
      const std::size_t at = word == "commands"  ? 0
                             : word == "spacing" ? 1
                             : word == "traces"  ? 2
                                                 : 3;
      if (at == 3 || !node.is_integer()) {
        throw InputError(toml_place(file_, name.source()),
                         fmt::format("key 'stages': a stage must hold whole numbers commands, "
                                     "spacing and traces, not '{}'",
                                     word));
      }
      numbers[at] = std::to_string(node.as_integer()->get());
    }
    return numbers[0] + ":" + numbers[1] + (numbers[2].empty() ? "" : ":" + numbers[2]);
  }

  [[noreturn]] void wrong_type(const std::string& key, const toml::node& node) const {
    throw InputError(
        toml_place(file_, node.source()),
        fmt::format("key '{}': the value must be a string, a number or a list of them", key));
  }

  std::string file_;
  std::map<std::string, toml::source_region> places_;
};

}  // namespace

Task parse_task(std::string_view toml, const std::string& file) {
  TaskReader reader(file);
  const Task task = reader.read(toml);
  reader.check(task);
  return task;
}

Task parse_unchecked_task(std::string_view toml, const std::string& file) {
  return TaskReader(file).read(toml);
}

std::string written_value(const TaskKey& key, const Task& task) {
  const std::string value = key.get(task);
  // Values hold no quotes, backslashes or control characters: every setter refuses them or only
  // knows plain words.
  if (!key.is_number) return fmt::format("\"{}\"", value);
  return value.find(',') == std::string::npos ? value : fmt::format("[{}]", value);
}

std::string write_task(const Task& task) {
  std::string text;
  for (const TaskKey& key : task_keys()) {
    text += fmt::format("{} = {}\n", key.name, written_value(key, task));
  }
  return text;
}

}  // namespace shellgame
