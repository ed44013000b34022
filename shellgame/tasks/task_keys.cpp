#include "shellgame/tasks/task_keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "shellgame/programs/render.h"
#include "shellgame/tasks/moves.h"
#include "shellgame/text/error.h"
#include "shellgame/text/python_number.h"

namespace shellgame {
namespace {

// Cuts at `separator` and takes blanks off both ends of each part; an empty text has no parts.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.find_first_not_of(' ') == std::string_view::npos) return parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Choice>
using Words = std::vector<std::pair<std::string, Choice>>;

const Words<Moves> kMoves = {{"permutations", Moves::kPermutations},
                             {"swaps", Moves::kSwaps},
                             {"generators", Moves::kGenerators}};
const Words<Reveals> kReveals = {{"uniform", Reveals::kUniform},
                                 {"round-robin", Reveals::kRoundRobin},
                                 {"fixed", Reveals::kFixed},
                                 {"none", Reveals::kNone}};
const Words<RevealForm> kForms = {{"print", RevealForm::kPrint},
                                  {"equal", RevealForm::kEqual},
                                  {"unequal", RevealForm::kUnequal},
                                  {"member", RevealForm::kMember}};
const Words<InitialReveal> kInitial = {
    {"none", InitialReveal::kNone}, {"one", InitialReveal::kOne}, {"all", InitialReveal::kAll}};
const Words<Condition> kConditions = {{"random", Condition::kRandom},
                                      {"environment", Condition::kEnvironment},
                                      {"external", Condition::kService}};
const Words<Otherwise> kOtherwise = {{"identity", Otherwise::kIdentity},
                                     {"move", Otherwise::kMove}};
const Words<Multiplication> kProducts = {{"right", Multiplication::kRight},
                                         {"left", Multiplication::kLeft}};

template <class Choice>
std::string joined(const Words<Choice>& words) {
  std::vector<std::string> names;
  for (const auto& word : words) names.push_back(word.first);
  return fmt::format("{}", fmt::join(names, "|"));
}

template <class Choice>
Choice choose(const Words<Choice>& words, const std::string& text, const char* what) {
  for (const auto& [name, choice] : words) {
    if (name == text) return choice;
  }
  wrong_use("{} must be one of {}, not '{}'", what, joined(words), text);
}

template <class Choice>
std::string word_of(const Words<Choice>& words, Choice choice) {
  for (const auto& [name, value] : words) {
    if (value == choice) return name;
  }
  return "";
}

// A key that holds one word of a list.
template <class Choice>
TaskKey word_key(const char* name, const Words<Choice>& words, Choice Task::*member,
                 std::string help) {
  return {name, joined(words), std::move(help),
          [=, &words](Task& task, const std::string& text) {
            task.*member = choose(words, text, name);
          },
          [=, &words](const Task& task) { return word_of(words, task.*member); }};
}

// A key that holds one number.
template <class Number>
TaskKey number_key(const char* name, Number Task::*member, const NumberBounds& bounds,
                   std::string help) {
  return {
      name,
      bounds.is_whole() ? "N" : "P",
      std::move(help),
      [=](Task& task, const std::string& text) { task.*member = bounds.parse<Number>(name, text); },
      [=](const Task& task) {
        if constexpr (std::is_same_v<Number, double>) return python_number(task.*member);
        return std::to_string(task.*member);
      },
      true,
      {{name, bounds}}};
}

// More than this is a distribution of its own: mixtures have weights.
constexpr std::size_t kMostProbabilities = 64;
constexpr NumberBounds kStageTraces = NumberBounds::whole(1, kMostSigned);

// "1-12", or one number for both ends.
DrawnCycles parse_cycles(const char* name, const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto least = kCommandBounds.parse<std::uint64_t>(name, text.substr(0, dash));
  if (dash == std::string::npos) return {least, least};
  const auto most = kCommandBounds.parse<std::uint64_t>(name, text.substr(dash + 1));
  if (most < least)
    wrong_use("{} must go from a number to one that is not less, not '{}'", name, text);
  return {least, most};
}

TaskKey span_key(const char* name, DrawnCycles Task::*member, std::string help) {
  return {name,
          "N-M",
          std::move(help),
          [=](Task& task, const std::string& text) { task.*member = parse_cycles(name, text); },
          [=](const Task& task) {
            const DrawnCycles& span = task.*member;
            return fmt::format("{}-{}", span.least, span.most);
          },
          false,
          {{name, kCommandBounds}, {name, kCommandBounds, "1-{}"}}};
}

void set_uncertainty(Task& task, const std::string& text) {
  task.branching = task.skipped = task.unknown_start = false;
  const std::vector<std::string> kinds = split(text, ',');
  for (const std::string& kind : kinds) {
    if (kind == "branching") {
      task.branching = true;
    } else if (kind == "skipped") {
      task.skipped = true;
    } else if (kind == "unknown-start") {
      task.unknown_start = true;
    } else if (kind != "none" || kinds.size() > 1) {
      wrong_use(
          "uncertainty must be none, branching, skipped, unknown-start, or unknown-start with one "
          "of the others "
          "after a comma, not '{}'",
          text);
    }
  }
}

std::string get_uncertainty(const Task& task) {
  std::vector<std::string> kinds;
  if (task.branching) kinds.push_back("branching");
  if (task.skipped) kinds.push_back("skipped");
  if (task.unknown_start) kinds.push_back("unknown-start");
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ","));
}

void set_stages(Task& task, const std::string& text) {
  task.stages.clear();
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> numbers = split(part, ':');
    if (numbers.size() < 2 || numbers.size() > 3) {
      wrong_use("a stage must be COMMANDS:SPACING:TRACES (the last may leave out TRACES), not '{}'",
                part);
    }
    Stage stage{kCommandBounds.parse<std::uint64_t>("the commands of stages", numbers[0]),
                kCommandBounds.parse<std::uint64_t>("the spacing of stages", numbers[1]), 0};
    if (numbers.size() == 3)
      stage.traces = kStageTraces.parse<std::uint64_t>("the traces of stages", numbers[2]);
    task.stages.push_back(stage);
  }
}

std::string get_stages(const Task& task) {
  std::vector<std::string> parts;
  for (const Stage& stage : task.stages) {
    parts.push_back(fmt::format("{}:{}", stage.commands, stage.spacing));
    if (stage.traces > 0) parts.back() += fmt::format(":{}", stage.traces);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<TaskKey> make_keys() {
  return {
      {"group", "NAME",
       "the group: S5, A5, Z7, D4, a product such as A4xZ5, or generators such as '<(1 2), (1 2 "
       "3)>'",
       [](Task& task, const std::string& text) {
         group_degree(text);
         task.group = text;
       },
       [](const Task& task) { return task.group; }},
      word_key("moves", kMoves, &Task::moves,
               "what a command does: any element of the group, a swap of two variables, or one of "
               "the group's generators"),
      number_key("commands", &Task::commands, kCommandBounds, "commands in a trace"),
      number_key("spacing", &Task::spacing, kCommandBounds,
                 "commands between two reveals (for no reveals: reveals = none)"),
      word_key("reveals", kReveals, &Task::reveals,
               "which variable a reveal shows: drawn uniformly, each in turn, always "
               "reveal-variable, or no reveals"),
      {"reveal-variable", "NAME", "the variable that is shown when reveals = fixed",
       [](Task& task, const std::string& text) {
         if (!scheme_index(text))
           wrong_use("reveal-variable must be a variable a, b, c, ..., not '{}'", text);
         task.reveal_variable = text;
       },
       [](const Task& task) { return task.reveal_variable; }},
      number_key("reveal-count", &Task::reveal_count, NumberBounds::whole(1, kMostVariables),
                 "how many variables a reveal shows"),
      {"reveal-forms", joined(kForms) + ",...",
       "forms of a reveal, one drawn for each: print('a', a), assert a == 2, a test against one "
       "value (== or !=), "
       "assert a in (1, 2)",
       [](Task& task, const std::string& text) {
         task.reveal_forms.clear();
         for (const std::string& word : split(text, ',')) {
           task.reveal_forms.push_back(choose(kForms, word, "each of reveal-forms"));
         }
         if (task.reveal_forms.empty())
           wrong_use("reveal-forms must name at least one of {}", joined(kForms));
       },
       [](const Task& task) {
         std::vector<std::string> words;
         for (RevealForm form : task.reveal_forms) words.push_back(word_of(kForms, form));
         return fmt::format("{}", fmt::join(words, ","));
       }},
      word_key("initial-reveal", kInitial, &Task::initial_reveal,
               "what is revealed before the first command: nothing, what a reveal shows, or all "
               "variables"),
      number_key("full-reveal-period", &Task::full_reveal_period,
                 NumberBounds::whole(0, kMostCommands),
                 "commands between two prints of all variables; 0 for never"),
      {"uncertainty", "none|branching|skipped|unknown-start",
       "the source of uncertainty: hidden branches (A), calls whose work is skipped (B), an "
       "unknown start (C); "
       "unknown-start may be joined with another by a comma",
       set_uncertainty, get_uncertainty},
      {"probability",
       "P,...",
       "the chance that an uncertain command does its move; of several, each command draws one",
       [](Task& task, const std::string& text) {
         std::vector<double> all;
         for (const std::string& part : split(text, ','))
           all.push_back(kShareBounds.parse<double>("probability", part));
         if (all.empty() || all.size() > kMostProbabilities)
           wrong_use("probability must be 1 to {} numbers, not {}", kMostProbabilities, all.size());
         task.probabilities = std::move(all);
       },
       [](const Task& task) {
         std::vector<std::string> words;
         for (const double p : task.probabilities) words.push_back(python_number(p));
         return fmt::format("{}", fmt::join(words, ","));
       },
       true,
       {{"probability", kShareBounds}, {"probability", kShareBounds, "0.5,{}"}}},
      word_key("condition", kConditions, &Task::condition,
               "the hidden condition: random(), a hidden environment variable, or an external "
               "call's result"),
      word_key("otherwise", kOtherwise, &Task::otherwise,
               "what an uncertain command does if not its move: nothing, or another move (a slip)"),
      number_key("uncertain-share", &Task::uncertain_share, kShareBounds,
                 "the share of commands that are uncertain"),
      {"mixtures", "TEXT",
       "uncertain commands to draw from, instead of moves: weighted cycles, '0.5 (1 2), 0.5 (1 3); "
       "0.9 (), 0.1 (1 2)'",
       [](Task& task, const std::string& text) {
         task.mixtures = split(text, ';');
         for (const std::string& mixture : task.mixtures)
           parse_mixture(mixture, kMaxPoints, Condition::kRandom);
       },
       [](const Task& task) { return fmt::format("{}", fmt::join(task.mixtures, "; ")); }},
      number_key("sticky-share", &Task::sticky_share, kShareBounds,
                 "the share of traces that contain runs: one command and one variable that it "
                 "moves are kept for some cycles (spacing commands, then a reveal)"),
      span_key("sticky-cycles", &Task::sticky_cycles, "cycles of a run, one number drawn for each"),
      span_key("sticky-gap", &Task::sticky_gap,
               "ordinary cycles before each run, one number drawn for each"),
      {"values", "TEXT,...", "strings to use as values instead of 1..n, one a variable",
       [](Task& task, const std::string& text) {
         task.values = split(text, ',');
         if (!task.values.empty()) Names::with_strings(task.values);
       },
       [](const Task& task) { return fmt::format("{}", fmt::join(task.values, ",")); }},
      word_key("product", kProducts, &Task::product,
               "on which side the next element is multiplied in the word-problem form"),
      {"stages",
       "COMMANDS:SPACING:TRACES,...",
       "a curriculum: the lengths of the first TRACES traces, then of the next (instead of "
       "commands and spacing)",
       set_stages,
       get_stages,
       false,
       {{"stages", kCommandBounds, "{}:1:1"},
        {"stages", kCommandBounds, "1:{}:1"},
        {"stages", kStageTraces, "1:1:{}"}}},
  };
}

}  // namespace

const std::vector<TaskKey>& task_keys() {
  static const std::vector<TaskKey> keys = make_keys();
  return keys;
}

const TaskKey* find_task_key(std::string_view name) {
  std::string canonical(name);
  std::ranges::replace(canonical, '_', '-');
  for (const TaskKey& key : task_keys()) {
    if (key.name == canonical) return &key;
  }
  return nullptr;
}

}  // namespace shellgame
