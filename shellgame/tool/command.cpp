#include "shellgame/tool/command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "shellgame/episodes/schedule_source.h"
#include "shellgame/system/cores.h"
#include "shellgame/system/files.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"

namespace shellgame {

namespace {

std::map<const CLI::Option*, std::vector<DeclaredNumber>>& declared() {
  static std::map<const CLI::Option*, std::vector<DeclaredNumber>> all;
  return all;
}

}  // namespace

void set_help(CLI::Option* option, const std::string& help) {
  const std::vector<DeclaredNumber>& numbers = numbers_of(option);
  // Where only a part of the value is a number, the help says what the parts are.
  const bool shown = !numbers.empty() && numbers.front().pattern == "{}";
  option->description(shown ? fmt::format("{} ({})", help, numbers.front().bounds.range()) : help);
}

CLI::Option* declare_numbers(CLI::Option* option, const std::vector<DeclaredNumber>& numbers) {
  std::vector<DeclaredNumber>& all = declared()[option];
  const bool first = all.empty();
  all.insert(all.end(), numbers.begin(), numbers.end());
  if (first) set_help(option, option->get_description());
  return option;
}

const std::vector<DeclaredNumber>& numbers_of(const CLI::Option* option) {
  static const std::vector<DeclaredNumber> none;
  const auto found = declared().find(option);
  return found == declared().end() ? none : found->second;
}

void require_fit(const std::string& name, bool fit) {
  if (!fit) throw std::logic_error("the type of " + name + " does not hold its bounds");
}

void add_threads(CLI::App& command) {
  CLI::Option* option = command.add_option_function<std::string>(
      "-j,--threads",
      [](const std::string& text) {
        // More threads than cores wait for each other: 1,024 on two cores took minutes for seconds.
        set_thread_count(std::min(kThreadBounds.parse<int>("--threads", text), usable_cores()));
      },
      "threads to use, at most as many as cores" + threads_default("") +
          ". Results do not depend on it");
  declare_numbers(option->type_name("N"), {{"--threads", kThreadBounds}});
}

std::string threads_default(const std::string& first) {
  return fmt::format(
      "; by default {}as many as the cores that this process may use, or OMP_NUM_THREADS if that "
      "is "
      "less",
      first);
}

namespace {

// A task's key that is empty by default: "" takes away what a task's file says.
bool may_be_empty(const CLI::Option& option) {
  const std::string name = option.get_name();
  const TaskKey* key = name.starts_with("--") ? find_task_key(name.substr(2)) : nullptr;
  return key != nullptr && key->get(Task()).empty();
}

}  // namespace

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0 || may_be_empty(*option)) continue;
    // What "transforms" is asked before all other checks: the sentence is always this one.
    option->transform(CLI::Validator(
        [](std::string& text) {
          return std::string(text.empty() ? "the value must not be empty" : "");
        },
        ""));
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    refuse_empty_values(*command);
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

namespace {

void set_key(const TaskKey& key, const std::string& text, Task& task) {
  try {
    key.set(task, text);
  } catch (const UsageError& error) {
    wrong_use("--{}: {}", key.name, error.what());
  }
}

}  // namespace

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
    CLI::Option* option = command->add_option_function<std::string>(
        "--" + key.name,
        [given = given_, &key](const std::string& text) {
          // Numbers are refused before anything else is looked at.
          Task tried;
          if (!key.numbers.empty()) set_key(key, text, tried);
          given->values[key.name] = text;
        },
        key.help);
    option->type_name(key.form)->default_str(standard)->group(group);
    for (DeclaredNumber number : key.numbers) {
      number.name = "--" + number.name;
      declare_numbers(option, {number});
    }
  }
}

void ScheduleOptions::add(CLI::App* command) {
  const std::string group = "Schedule (instead of a task)";
  command
      ->add_option("--schedule", files,
                   "traces as a file writes them down, or a certificate of the adversary "
                   "(docs/formats.md); may be given several times")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(group);
  command
      ->add_option("--set", settings,
                   "numbers of a schedule's parameter, or its endings: N=1,4 or ending=c, or both: "
                   "N=1,4,ending=c")
      ->type_name("NAME=VALUE,...")
      ->allow_extra_args(false)
      ->group(group);
}

std::vector<std::shared_ptr<const SchedulePlan>> ScheduleOptions::cells() const {
  if (files.empty() && !settings.empty()) wrong_use("--set needs --schedule");
  std::vector<std::shared_ptr<const SchedulePlan>> all;
  for (const std::string& file : files) {
    for (auto& cell : schedule_cells(file, settings)) all.push_back(std::move(cell));
  }
  return all;
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
  if (!given_->file.empty()) task = parse_unchecked_task(read_input(given_->file), given_->file);
  for (const TaskKey& key : task_keys()) {
    const auto found = given_->values.find(key.name);
    if (found == given_->values.end()) continue;
    set_key(key, found->second, task);
  }
  return task;
}

}  // namespace shellgame
