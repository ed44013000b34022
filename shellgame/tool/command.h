// What all subcommands share: how they are declared (once, for parsing, help, documentation and
// completion), the options that they have in common, and the options of a task.
#pragma once

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/system/threads.h"
#include "shellgame/tasks/task.h"
#include "shellgame/text/number.h"
#include "shellgame/tool/number_list.h"

namespace shellgame {

class SchedulePlan;

// Declares `shellgame NAME`: adds --threads, and the examples below its help. Calls `run` when it
// was chosen.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::vector<std::string>& examples, std::function<void()> run = {});

// --threads, for the whole tool and for every command.
void add_threads(CLI::App& command);
// What the help of --threads says of numbers and of the default; `first` is what comes before it.
std::string threads_default(const std::string& first);

// No option and no argument of any command takes an empty name: "" would mean the default. To be
// called when all are declared.
void refuse_empty_values(CLI::App& app);
inline constexpr NumberBounds kThreadBounds = NumberBounds::whole(1, kMostThreads);

// An option that takes one of some words.
CLI::Option* add_words(CLI::App* command, const std::string& name, std::string& value,
                       const std::vector<std::string>& words, const std::string& help);

// Remembers which numbers an option takes, and puts their bounds at the end of its help.
CLI::Option* declare_numbers(CLI::Option* option, const std::vector<DeclaredNumber>& numbers);
// Throws std::logic_error if bounds are declared that their type does not hold.
void require_fit(const std::string& name, bool fit);

// An option that takes a number. Every number of the tool is declared by these functions, with its
// bounds, and `help --numbers` lists them; a test tries the ends of each.
template <class Number>
CLI::Option* add_number(CLI::App* command, const std::string& name, Number& value,
                        const NumberBounds& bounds, const std::string& help) {
  require_fit(name, bounds.fit<Number>());
  CLI::Option* option = command->add_option_function<std::string>(
      name, [&value, bounds, name](const std::string& text) {
        value = bounds.parse<Number>(name, text);
      });
  option->default_str(fmt::format("{}", value));
  return declare_numbers(option->type_name("N")->description(help), {{name, bounds}});
}

// One that takes numbers with commas between them; with `ranges`, also 0..4. Each number once.
template <class Number>
CLI::Option* add_numbers(CLI::App* command, const std::string& name, std::vector<Number>& list,
                         const NumberBounds& bounds, const std::string& help, bool ranges = false) {
  require_fit(name, bounds.fit<Number>());
  CLI::Option* option = command->add_option_function<std::string>(
      name, [&list, bounds, name, ranges](const std::string& text) {
        list = parse_numbers<Number>(name, bounds, text, ranges);
      });
  option->default_str(fmt::format("{}", fmt::join(list, ",")));
  return declare_numbers(option->type_name("N,...")->description(help),
                         {{name, bounds},
                          {name, bounds, bounds.minimum() + ",{}"},
                          {name, bounds, ranges ? bounds.minimum() + "..{}" : "{}"}});
}

// Another help for an option that takes numbers; the bounds stay.
void set_help(CLI::Option* option, const std::string& help);
// What belongs to an option, if it takes numbers; empty if it takes none.
const std::vector<DeclaredNumber>& numbers_of(const CLI::Option* option);

// --task FILE and one option for each key of a task; what is given on the command line wins over
// the file.
class TaskOptions {
 public:
  // Without the keys of `left_out`, which the command takes in a form of its own.
  explicit TaskOptions(CLI::App* command, const std::vector<std::string>& left_out = {});
  // The resolved and checked spec. Throws UsageError or InputError.
  Task resolve() const;
  // The same over a spec from elsewhere (which --task replaces), without checks between keys.
  Task resolve_unchecked(Task base) const;
  // What was given for a key on the command line, or null.
  const std::string* given(const std::string& key) const;
  bool has_file() const;  // --task

 private:
  struct Given;
  std::shared_ptr<Given> given_;
};

// --schedule FILE (several, if `several`) and --set NAME=VALUE,...: traces that are written down
// instead of a task's.
struct ScheduleOptions {
  std::vector<std::string> files, settings;
  void add(CLI::App* command);
  bool given() const { return !files.empty(); }
  // The cells of all files, in order. Throws UsageError or InputError.
  std::vector<std::shared_ptr<const SchedulePlan>> cells() const;
};

// One function a subcommand, each in a file of its name.
void add_trace(CLI::App& app);
void add_verify(CLI::App& app);
void add_parse(CLI::App& app);
void add_tokens(CLI::App& app);
void add_sequence(CLI::App& app);
void add_group(CLI::App& app);
void add_belief(CLI::App& app);
void add_belief_examples(CLI::App& belief);
void add_belief_stability(CLI::App& belief);
void add_belief_adversary(CLI::App& belief);
void add_belief_check(CLI::App& belief);
void add_belief_marginal_error(CLI::App& belief);
void add_model(CLI::App& app);
void add_model_exact(CLI::App& model);
void add_train(CLI::App& app);
void add_sweep(CLI::App& app);
void add_tune(CLI::App& app);
void add_verdict(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_probe(CLI::App& app);
void add_report(CLI::App& app);
void add_figures(CLI::App& app);
void add_tables(CLI::App& app);
void add_bench(CLI::App& app);
void add_bench_model(CLI::App& bench);
void add_signature(CLI::App& app);
void add_quickstart(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

// docs/cli.md: all commands and options, from the same declarations.
std::string cli_markdown(const CLI::App& app);
std::string bash_completion(const CLI::App& app);
// All numbers with their bounds, as JSON. The options are tried on the way: nothing can be parsed
// afterwards.
std::string declared_numbers(CLI::App& app);

}  // namespace shellgame
