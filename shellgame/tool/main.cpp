// The tool `shellgame`: declares all subcommands, runs the chosen one, and turns errors into one
// sentence and an exit code: 0 only on success, 2 for wrong use or wrong input, 1 for failure.
#include <fmt/format.h>

#include <exception>

#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/parent_death.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

constexpr int kWrongUse = 2;

// One line, whatever a file that is quoted in it holds.
void say_error(std::string_view sentence) noexcept {
  try {
    say("shellgame: {}", printable(sentence));
  } catch (const std::bad_alloc&) {
    draw("shellgame: this needs more memory than there is\n");
  }
}

// The deepest subcommand that was named.
const CLI::App* chosen(const CLI::App* app) {
  for (const CLI::App* next : app->get_subcommands([](const CLI::App* s) { return s->parsed(); }))
    return chosen(next);
  return app;
}

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name()
                                      : full_name(app->get_parent()) + " " + app->get_name();
}

// A sentence for what the command line got wrong, with the nearest name where a name is unknown.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* at = chosen(&app);
  if (const std::vector<std::string> extra = at->remaining(); !extra.empty()) {
    const std::string wrong = extra.front().substr(0, extra.front().find('='));
    std::vector<std::string> names;
    if (wrong.starts_with("-")) {
      for (const CLI::Option* option : at->get_options()) names.push_back(option->get_name());
    } else {
      for (const CLI::App* sub : at->get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(sub->get_name());
    }
    const std::string near = nearest_name(wrong, names);
    return fmt::format("'{}' is not {} of '{}'{} (see '{} --help')", wrong,
                       wrong.starts_with("-") ? "an option"
                       : names.empty()        ? "an argument"
                                              : "a command",
                       full_name(at), near.empty() ? "" : "; did you mean '" + near + "'?",
                       full_name(at));
  }
  return fmt::format("{} (see '{} --help')", error.what(), full_name(at));
}

int run(int argc, char** argv) {
  CLI::App app(
      "A laboratory for state tracking in sequence models: traces of a Python shell that shuffle "
      "variables,\n"
      "confirmed by a real CPython.",
      "shellgame");
  app.set_version_flag("-V,--version", "shellgame " SHELLGAME_VERSION ", generator " +
                                           std::to_string(kGeneratorVersion));
  app.set_help_flag("-h,--help", "print this help and exit");
  add_threads(app);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n  shellgame trace --group S3 --moves swaps --commands 8 --spacing 2\n"
      "  shellgame help trace\n\nExit codes: 0 success, 1 failure, 2 wrong use or wrong input.");
  add_quickstart(app);
  add_trace(app);
  add_verify(app);
  add_parse(app);
  add_tokens(app);
  add_sequence(app);
  add_group(app);
  add_belief(app);
  add_model(app);
  add_train(app);
  add_sweep(app);
  add_tune(app);
  add_verdict(app);
  add_evaluate(app);
  add_probe(app);
  add_report(app);
  add_figures(app);
  add_tables(app);
  add_bench(app);
  add_signature(app);
  add_completion(app);
  add_help(app);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      draw(app.help());
      return kWrongUse;
    }
  } catch (const CLI::CallForHelp&) {
    print_data(chosen(&app)->help());
  } catch (const CLI::CallForVersion& version) {
    print_lines("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    say_error(explain(app, error));
    return kWrongUse;
  }
  flush_output();
  return 0;
}

}  // namespace
}  // namespace shellgame

int main(int argc, char** argv) {
  using shellgame::say_error;
  try {
    shellgame::take_closed_descriptors();
    shellgame::remove_temporary_files_on_interrupt();
    shellgame::end_with_parent();
    return shellgame::run(argc, argv);
  } catch (const shellgame::Error& error) {
    say_error(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    say_error("this needs more memory than there is");
    return 1;
  } catch (const std::exception& error) {
    say_error(error.what());
    return 1;
  }
}
