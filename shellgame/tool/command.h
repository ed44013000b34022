// What all subcommands share: how they are declared (once, for parsing, help, documentation and
// completion), the options that they have in common, and the options of a task.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/tasks/task.h"

namespace shellgame {

// Declares `shellgame NAME`: adds --threads, and the examples below its help. Calls `run` when it
// was chosen.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::vector<std::string>& examples, std::function<void()> run = {});

// --threads, for the whole tool and for every command.
void add_threads(CLI::App& command);

// An option that takes one of some words.
CLI::Option* add_words(CLI::App* command, const std::string& name, std::string& value,
                       const std::vector<std::string>& words, const std::string& help);

// What is wrong with a whole number of at least `least`; empty if nothing is.
std::string check_number(const std::string& name, std::uint64_t least, const std::string& text);
// An option that takes such a number.
template <class Number>
CLI::Option* add_number(CLI::App* command, const std::string& name, Number& value,
                        std::uint64_t least, const std::string& help) {
  return command->add_option(name, value, help)
      ->type_name("N")
      ->capture_default_str()
      ->check([name, least](const std::string& text) { return check_number(name, least, text); });
}

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
void add_evaluate(CLI::App& app);
void add_probe(CLI::App& app);
void add_report(CLI::App& app);
void add_figures(CLI::App& app);
void add_bench(CLI::App& app);
void add_bench_model(CLI::App& bench);
void add_signature(CLI::App& app);
void add_quickstart(CLI::App& app);
void add_completion(CLI::App& app);
void add_help(CLI::App& app);

// docs/cli.md: all commands and options, from the same declarations.
std::string cli_markdown(const CLI::App& app);
std::string bash_completion(const CLI::App& app);

}  // namespace shellgame
