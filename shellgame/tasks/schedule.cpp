#include "shellgame/tasks/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "shellgame/tasks/moves.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/number.h"
#include "shellgame/text/read_toml.h"

namespace shellgame {
namespace {

constexpr std::size_t kMostNumbers = 4096;  // of a parameter, and of cells
constexpr NumberBounds kRoundBounds = NumberBounds::whole(1, kMostCommands);

class ScheduleReader {
 public:
  explicit ScheduleReader(const std::string& file) : file_(file) {}

  Schedule read(std::string_view text) {
    const toml::table table = parse_toml(text, file_);
    only(table,
         {"name", "variables", "start", "namings", "traces", "asked", "parameters", "variants",
          "steps", "endings"},
         "a schedule");
    schedule_.file = file_;
    schedule_.name = std::filesystem::path(file_).stem().string();
    if (const toml::node* name = table.get("name")) schedule_.name = words(*name, "name");
    read_variables(table);
    read_numbers(table, "parameters", schedule_.parameters);
    read_numbers(table, "variants", schedule_.variants);
    if (const toml::node* namings = table.get("namings"))
      schedule_.all_namings = choice(*namings, "namings", {"one", "all"}) == 1;
    if (const toml::node* asked = table.get("asked"))
      schedule_.ask_all = choice(*asked, "asked", {"last", "all"}) == 1;
    if (const toml::node* traces = table.get("traces"))
      schedule_.traces = whole(*traces, "traces", NumberBounds::whole(1, 1'000'000'000));
    if (const toml::node* steps = table.get("steps")) schedule_.steps = read_steps(*steps);
    read_endings(table);
    if (cells_of(schedule_).size() > kMostNumbers)
      throw InputError(file_, fmt::format("a schedule must have at most {} cells", kMostNumbers));
    return std::move(schedule_);
  }

 private:
  [[noreturn]] void refuse(const toml::node& node, const std::string& sentence) const {
    throw InputError(toml_place(file_, node.source()), sentence);
  }

  void only(const toml::table& table, const std::vector<std::string>& names,
            const std::string& what) const {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(names, key.str()) != names.end()) continue;
      const std::string near = nearest_name(key.str(), names);
      throw InputError(toml_place(file_, key.source()),
                       fmt::format("key '{}': {} has no such key{}", key.str(), what,
                                   near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }

  std::string words(const toml::node& node, const std::string& key) const {
    const auto* text = node.as_string();
    if (text == nullptr || text->get().empty())
      refuse(node, fmt::format("'{}' must be a text", key));
    return text->get();
  }

  std::size_t choice(const toml::node& node, const std::string& key,
                     const std::vector<std::string>& names) const {
    const auto* text = node.as_string();
    const auto found = std::ranges::find(names, text == nullptr ? "" : text->get());
    if (found == names.end())
      refuse(node, fmt::format("'{}' must be {}", key, fmt::join(names, " or ")));
    return static_cast<std::size_t>(found - names.begin());
  }

  std::uint64_t whole(const toml::node& node, const std::string& key,
                      const NumberBounds& bounds) const {
    const auto* number = node.as_integer();
    const std::string text = number != nullptr ? std::to_string(number->get()) : "";
    if (number == nullptr || !bounds.accepts(text))
      refuse(node, fmt::format("'{}' must be {}", key, bounds.in_words()));
    return bounds.parse<std::uint64_t>(key, text);
  }

  std::optional<double> number_of(const toml::node& node) const {
    if (const auto* number = node.as_integer()) return static_cast<double>(number->get());
    if (const auto* number = node.as_floating_point()) return number->get();
    return std::nullopt;
  }

  // A number, or the name of one that is known.
  Amount amount(const toml::node& node, const std::string& key, const NumberBounds& bounds,
                bool of_traces) const {
    const auto check = [&](double number) {
      if (!bounds.accepts(amount_text(number)))
        refuse(node,
               fmt::format("'{}' must be {}, not {}", key, bounds.in_words(), amount_text(number)));
    };
    if (const auto* name = node.as_string()) {
      for (const auto* list : {&schedule_.parameters, &schedule_.variants}) {
        if (list == &schedule_.variants && !of_traces) continue;
        for (const ScheduleNumbers& known : *list) {
          if (known.name != name->get()) continue;
          for (const double number : known.numbers) check(number);
          return {0, known.name};
        }
      }
      refuse(node, fmt::format("'{}' must be a number or a name of [parameters]{}, not '{}'", key,
                               of_traces ? " or [variants]" : "", name->get()));
    }
    const std::optional<double> number = number_of(node);
    if (!number) refuse(node, fmt::format("'{}' must be a number or a name", key));
    check(*number);
    return {*number, ""};
  }

  void read_variables(const toml::table& table) {
    const toml::node* variables = table.get("variables");
    if (variables == nullptr)
      throw InputError(file_, "a schedule must say how many 'variables' it has");
    schedule_.variables =
        whole(*variables, "variables", NumberBounds::whole(2, Schedule::kMostVariables));
    const std::size_t n = schedule_.variables;
    const toml::node* start = table.get("start");
    if (start == nullptr) {
      for (ValueId v = 0; v < n; ++v) schedule_.start.push_back(v);
      return;
    }
    if (start->is_string()) {
      choice(*start, "start", {"unknown"});
      return;
    }
    const toml::array* list = start->as_array();
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k)
      schedule_.start.push_back(
          static_cast<ValueId>(whole((*list)[k], "start", NumberBounds::whole(1, n)) - 1));
    std::vector<ValueId> sorted = schedule_.start;
    std::ranges::sort(sorted);
    if (sorted.size() != n || std::ranges::adjacent_find(sorted) != sorted.end())
      refuse(*start, fmt::format("'start' must be \"unknown\" or a list with each number from 1 to "
                                 "{} once",
                                 n));
  }

  void read_numbers(const toml::table& table, const char* key,
                    std::vector<ScheduleNumbers>& numbers) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return;
    const toml::table* names = node->as_table();
    if (names == nullptr) refuse(*node, fmt::format("'{}' must be a table of lists", key));
    for (const auto& [name, list] : *names) {
      ScheduleNumbers one{std::string(name.str()), {}};
      const toml::array* array = list.as_array();
      for (std::size_t k = 0; array != nullptr && k < array->size(); ++k) {
        const std::optional<double> number = number_of((*array)[k]);
        if (number && std::isfinite(*number)) one.numbers.push_back(*number);
      }
      if (array == nullptr || one.numbers.size() != array->size() || one.numbers.empty() ||
          one.numbers.size() > kMostNumbers)
        refuse(list, fmt::format("'{}' must be a list of 1 to {} numbers", one.name, kMostNumbers));
      const auto same = [&](const ScheduleNumbers& known) { return known.name == one.name; };
      if (one.name.empty() || one.name == "ending" || one.name == "schedule" ||
          std::ranges::any_of(schedule_.parameters, same))
        refuse(list, fmt::format("'{}' must be a name that is not taken", one.name));
      numbers.push_back(std::move(one));
    }
  }

  void read_endings(const toml::table& table) {
    const toml::node* node = table.get("endings");
    if (node == nullptr) {
      schedule_.endings.push_back({});
      return;
    }
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty())
      refuse(*node, "'endings' must be a list of tables, each with a name and steps");
    for (const toml::node& item : *list) {
      const toml::table* ending = item.as_table();
      if (ending == nullptr) refuse(item, "an ending must be a table with a name and steps");
      only(*ending, {"name", "steps"}, "an ending");
      if (!ending->contains("name") || !ending->contains("steps"))
        refuse(item, "an ending must have a name and steps");
      ScheduleEnding one{words(*ending->get("name"), "name"), read_steps(*ending->get("steps"))};
      for (const ScheduleEnding& known : schedule_.endings) {
        if (known.name == one.name)
          refuse(item, fmt::format("there must be one ending '{}', not two", one.name));
      }
      schedule_.endings.push_back(std::move(one));
    }
  }

  std::vector<ScheduleStep> read_steps(const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr) refuse(node, "'steps' must be a list of tables");
    std::vector<ScheduleStep> steps;
    for (const toml::node& item : *list) {
      const toml::table* step = item.as_table();
      if (step == nullptr) refuse(item, "a step must be a table: {swap = \"a b\"}");
      steps.push_back(read_step(*step));
    }
    return steps;
  }

  ScheduleStep read_step(const toml::table& table) {
    const std::vector<std::string> kinds = {"swap", "permute", "mixture", "print", "repeat"};
    std::string kind;
    for (const std::string& name : kinds) {
      if (!table.contains(name)) continue;
      if (!kind.empty())
        refuse(table, fmt::format("a step must be one of {}, not both {} and {}",
                                  fmt::join(kinds, ", "), kind, name));
      kind = name;
    }
    if (kind.empty())
      refuse(table, fmt::format("a step must have one of the keys {}", fmt::join(kinds, ", ")));
    ScheduleStep step;
    step.place = toml_place(file_, table.source());
    if (kind == "print") {
      read_print(table, step);
    } else if (kind == "repeat") {
      read_repeat(table, step);
    } else {
      read_command(table, kind, step);
    }
    return step;
  }

  void read_print(const toml::table& table, ScheduleStep& step) {
    only(table, {"print", "shows", "ask"}, "a print");
    step.kind = ScheduleStep::Kind::kPrint;
    const std::vector<VariableId> variables = names(*table.get("print"), "print");
    if (variables.size() != 1) refuse(table, "'print' must name one variable");
    step.variable = variables[0];
    if (const toml::node* shows = table.get("shows"))
      step.shows = amount(*shows, "shows", NumberBounds::whole(1, schedule_.variables), true);
    if (const toml::node* ask = table.get("ask")) {
      if (!ask->is_boolean()) refuse(*ask, "'ask' must be true or false");
      step.ask = ask->as_boolean()->get();
    }
  }

  void read_repeat(const toml::table& table, ScheduleStep& step) {
    only(table, {"repeat", "steps", "every", "at", "instead"}, "a block");
    step.kind = ScheduleStep::Kind::kRepeat;
    step.times = amount(*table.get("repeat"), "repeat", kRoundBounds, false);
    if (!table.contains("steps")) refuse(table, "a block must have 'steps'");
    step.steps = read_steps(*table.get("steps"));
    if (step.steps.empty()) refuse(table, "a block must have at least one step");
    const toml::node *every = table.get("every"), *at = table.get("at"),
                     *instead = table.get("instead");
    if (every == nullptr && at == nullptr && instead == nullptr) return;
    if (every == nullptr || instead == nullptr)
      refuse(table, "a block with 'instead' must have 'every', and the other way round");
    step.every = whole(*every, "every", kRoundBounds);
    step.at = step.every;
    if (at != nullptr) step.at = whole(*at, "at", NumberBounds::whole(1, step.every));
    step.instead = read_steps(*instead);
    if (step.instead.empty()) refuse(*instead, "'instead' must have at least one step");
  }

  void read_command(const toml::table& table, const std::string& kind, ScheduleStep& step) {
    const bool mixture = kind == "mixture";
    std::vector<std::string> keys = {kind, "times", "outcome"};
    if (!mixture) keys.push_back("probability");
    only(table, keys, "a command");
    const toml::node& node = *table.get(kind);
    if (mixture) {
      try {
        const Mixture parsed =
            parse_mixture(words(node, kind), schedule_.variables, Condition::kRandom);
        step.outcomes = parsed.outcomes;
        for (const double threshold : parsed.thresholds) step.thresholds.push_back({threshold, ""});
      } catch (const UsageError& error) {
        refuse(node, error.what());
      }
    } else {
      const std::vector<VariableId> variables = names(node, kind);
      if (kind == "swap") {
        if (variables.size() != 2 || variables[0] == variables[1])
          refuse(node, "'swap' must name two variables: \"a b\"");
        step.outcomes = {swap_permute(variables[0], variables[1])};
      } else {
        step.outcomes = {full_permute_of(node, variables)};
      }
      if (const toml::node* probability = table.get("probability")) {
        step.thresholds = {amount(*probability, "probability", kShareBounds, true)};
        step.outcomes.push_back({});
      }
    }
    if (const toml::node* outcome = table.get("outcome")) {
      if (step.thresholds.empty())
        refuse(*outcome, "'outcome' is for uncertain commands, which have a 'probability'");
      step.outcome =
          mixture ? whole(*outcome, "outcome", NumberBounds::whole(1, step.outcomes.size())) - 1
                  : choice(*outcome, "outcome", {"taken", "skipped"});
    }
    const toml::node* times = table.get("times");
    if (times == nullptr) return;
    ScheduleStep once = step;
    step = {.kind = ScheduleStep::Kind::kRepeat,
            .place = once.place,
            .times = amount(*times, "times", kRoundBounds, false)};
    step.steps.push_back(std::move(once));
  }

  Permute full_permute_of(const toml::node& node, const std::vector<VariableId>& sources) const {
    std::vector<VariableId> sorted = sources;
    std::ranges::sort(sorted);
    if (sorted.size() != schedule_.variables || std::ranges::adjacent_find(sorted) != sorted.end())
      refuse(node, fmt::format("'permute' must name each of the {} variables once, in the order "
                               "of what a, b, ... get",
                               schedule_.variables));
    Permute permute;
    for (VariableId v = 0; v < sources.size(); ++v) permute.targets.push_back(v);
    permute.sources = sources;
    return permute;
  }

  // "b c": names with blanks between them.
  std::vector<VariableId> names(const toml::node& node, const std::string& key) const {
    const std::string text = words(node, key);
    std::vector<VariableId> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string name = text.substr(at, end - at);
      at = end + 1;
      if (name.empty()) continue;
      const auto index = scheme_index(name);
      if (!index || *index >= schedule_.variables)
        refuse(node, fmt::format("'{}' must name variables from a to {}, not '{}'", key,
                                 scheme_variable(schedule_.variables - 1), name));
      found.push_back(static_cast<VariableId>(*index));
    }
    return found;
  }

  std::string file_;
  Schedule schedule_;
};

bool forces(const std::vector<ScheduleStep>& steps) {
  return std::ranges::any_of(steps, [](const ScheduleStep& step) {
    return step.outcome || step.shows || forces(step.steps) || forces(step.instead);
  });
}

}  // namespace

Schedule parse_schedule(std::string_view toml, const std::string& file) {
  return ScheduleReader(file).read(toml);
}

bool is_forced(const Schedule& schedule) {
  return forces(schedule.steps) ||
         std::ranges::any_of(schedule.endings,
                             [](const ScheduleEnding& ending) { return forces(ending.steps); });
}

std::vector<ScheduleCell> cells_of(const Schedule& schedule) {
  std::vector<ScheduleCell> cells(1);
  for (const ScheduleNumbers& parameter : schedule.parameters) {
    std::vector<ScheduleCell> more;
    for (const ScheduleCell& cell : cells) {
      for (const double number : parameter.numbers) {
        more.push_back(cell);
        more.back().parameters.push_back(number);
      }
      if (more.size() > 2 * kMostNumbers) break;  // refused by the reader
    }
    cells = std::move(more);
  }
  std::vector<ScheduleCell> all;
  for (const ScheduleCell& cell : cells) {
    for (std::size_t ending = 0; ending < schedule.endings.size(); ++ending) {
      all.push_back(cell);
      all.back().ending = ending;
    }
  }
  return all;
}

void restrict_schedule(Schedule& schedule, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals + 1 == setting.size())
    wrong_use("a setting of a schedule must be NAME=VALUE,..., not '{}'", setting);
  const std::string name = setting.substr(0, equals);
  std::vector<std::string> parts;
  for (std::size_t at = equals + 1; at <= setting.size();) {
    const std::size_t end = std::min(setting.find(',', at), setting.size());
    parts.push_back(setting.substr(at, end - at));
    at = end + 1;
  }
  if (name == "ending") {
    std::vector<ScheduleEnding> kept;
    for (const std::string& part : parts) {
      const auto found = std::ranges::find(schedule.endings, part, &ScheduleEnding::name);
      if (found == schedule.endings.end())
        wrong_use("the schedule '{}' has no ending '{}'", schedule.name, part);
      kept.push_back(*found);
    }
    schedule.endings = std::move(kept);
    return;
  }
  const auto parameter = std::ranges::find(schedule.parameters, name, &ScheduleNumbers::name);
  if (parameter == schedule.parameters.end())
    wrong_use("the schedule '{}' has no parameter '{}'", schedule.name, name);
  const bool whole = std::ranges::all_of(parameter->numbers,
                                         [](double x) { return x == std::floor(x) && x >= 1; });
  std::vector<double> numbers;
  for (const std::string& part : parts) {
    // A parameter of whole numbers may count rounds.
    numbers.push_back(whole ? static_cast<double>(kRoundBounds.parse<std::uint64_t>(name, part))
                            : kShareBounds.parse<double>(name, part));
  }
  parameter->numbers = std::move(numbers);
}

std::string amount_text(double number) { return fmt::format("{}", number); }

}  // namespace shellgame
