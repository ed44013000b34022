// `shellgame help --numbers`: every number that the tool takes, with its bounds, as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shellgame/automata/automaton_numbers.h"
#include "shellgame/episodes/data_kind.h"
#include "shellgame/models/config_numbers.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tool/command.h"
#include "shellgame/train/experiment_numbers.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(const DeclaredNumber& number) {
  const auto end = [](const std::string& text) {
    return text.find("inf") == std::string::npos ? parse_ordered_json(text, "a bound") : Json();
  };
  return {{"name", number.name},
          {"minimum", end(number.bounds.minimum())},
          {"maximum", end(number.bounds.maximum())},
          {"whole", number.bounds.is_whole()},
          {"pattern", number.pattern}};
}

Json numbers_json(const std::vector<DeclaredNumber>& numbers) {
  Json all = Json::array();
  for (const DeclaredNumber& number : numbers) all.push_back(number_json(number));
  return all;
}

// Whether CLI11 turns an option's text into a number by itself: a text that is none tells. The
// option is of no use afterwards.
bool converts_by_itself(CLI::Option* option) {
  try {
    for (int i = 0;; ++i) option->get_validator(i)->active(false);
  } catch (const CLI::OptionNotFound&) {
    // No more of them.
  }
  try {
    option->clear();
    option->add_result("x");
    option->run_callback();
  } catch (const CLI::ConversionError&) {
    return true;
  } catch (const std::exception&) {
    // Its own reader refused it.
  }
  return false;
}

void list_options(CLI::App& app, const std::string& command, Json& options, Json& undeclared) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0) continue;  // a flag
    const std::vector<DeclaredNumber>& numbers = numbers_of(option);
    for (const DeclaredNumber& number : numbers) {
      Json one = {{"command", command}};
      one.update(number_json(number));
      options.push_back(one);
    }
    if (numbers.empty() && converts_by_itself(option))
      undeclared.push_back(command + " " + option->get_name());
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    list_options(*sub, (command.empty() ? "" : command + " ") + sub->get_name(), options,
                 undeclared);
}

}  // namespace

std::string declared_numbers(CLI::App& app) {
  std::vector<DeclaredNumber> task;
  for (const TaskKey& key : task_keys())
    task.insert(task.end(), key.numbers.begin(), key.numbers.end());
  Json options = Json::array(), undeclared = Json::array();
  list_options(app, "", options, undeclared);
  Json kinds = Json::object();
  for (const std::string& name : data_kind_names()) {
    std::vector<DeclaredNumber> numbers;
    for (const DataKey& key : find_data_kind(name).keys)
      numbers.insert(numbers.end(), key.numbers.begin(), key.numbers.end());
    kinds[name] = numbers_json(numbers);
  }
  const Json all = {
      {"options", options},
      {"undeclared", undeclared},
      {"task", numbers_json(task)},
      {"data", kinds},
      {"experiment", numbers_json(experiment_numbers())},
      {"model", numbers_json(config_numbers())},
      {"automaton", numbers_json(automaton_numbers())},
      {"environment",
       numbers_json(std::vector<DeclaredNumber>{{"OMP_NUM_THREADS", kThreadBounds}})}};
  return all.dump(1) + "\n";
}

}  // namespace shellgame
