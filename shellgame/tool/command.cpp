#include "shellgame/tool/command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"

namespace shellgame {

void add_threads(CLI::App& command) {
  command
      .add_option_function<int>(
          "--threads", [](const int& count) { set_thread_count(count); },
          "threads to use; by default OMP_NUM_THREADS, else all cores. Results do not depend on it")
      ->type_name("N");
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::vector<std::string>& examples, std::function<void()> run) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->footer("");  // not the parent's
  if (!examples.empty())
    command->footer("Examples:\n  " + fmt::format("{}", fmt::join(examples, "\n  ")));
  add_threads(*command);
  if (run) command->callback(std::move(run));
  return command;
}

CLI::Option* add_words(CLI::App* command, const std::string& name, std::string& value,
                       const std::vector<std::string>& words, const std::string& help) {
  return command->add_option(name, value, help)
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->capture_default_str()
      ->check([name, words](const std::string& text) {
        for (const std::string& word : words) {
          if (word == text) return std::string();
        }
        return fmt::format("must be one of {}, not '{}'", fmt::join(words, ", "), text);
      });
}

std::string check_number(const std::string& name, std::uint64_t least, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least) return "";
  return fmt::format("{} must be a whole number from {} to 2^64 - 1, not '{}'", name, least, text);
}

struct TaskOptions::Given {
  std::string file;
  std::map<std::string, std::string> values;
};

TaskOptions::TaskOptions(CLI::App* command, const std::vector<std::string>& left_out)
    : given_(std::make_shared<Given>()) {
  const std::string group = "Task (each is also a key of a TOML file)";
  command->add_option("--task", given_->file, "a task spec; options given here win over it")
      ->type_name("FILE.toml")
      ->group(group);
  const Task defaults;
  for (const TaskKey& key : task_keys()) {
    if (std::ranges::find(left_out, key.name) != left_out.end()) continue;
    const std::string standard = key.get(defaults);
    command
        ->add_option_function<std::string>(
            "--" + key.name,
            [given = given_, name = key.name](const std::string& text) {
              given->values[name] = text;
            },
            key.help)
        ->type_name(key.form)
        ->default_str(standard)
        ->group(group);
  }
}

Task TaskOptions::resolve() const {
  Task task = resolve_unchecked({});
  check_task(task);
  return task;
}

const std::string* TaskOptions::given(const std::string& key) const {
  const auto found = given_->values.find(key);
  return found == given_->values.end() ? nullptr : &found->second;
}

bool TaskOptions::has_file() const { return !given_->file.empty(); }

Task TaskOptions::resolve_unchecked(Task task) const {
  if (!given_->file.empty()) task = parse_unchecked_task(read_file(given_->file), given_->file);
  for (const TaskKey& key : task_keys()) {
    const auto found = given_->values.find(key.name);
    if (found == given_->values.end()) continue;
    try {
      key.set(task, found->second);
    } catch (const UsageError& error) {
      wrong_use("--{}: {}", key.name, error.what());
    }
  }
  return task;
}

}  // namespace shellgame
