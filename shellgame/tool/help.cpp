// `shellgame help COMMAND`, the reference in Markdown, and completion for bash: all read the
// declarations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shellgame/episodes/data_kind.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : subcommands(*at)) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) next = sub;
    }
    if (next == nullptr) {
      const std::string near = nearest_name(word, names);
      wrong_use("'{}' is not a command of '{}'{}", word, at->get_name(),
                near.empty() ? "" : "; did you mean '" + near + "'?");
    }
    at = next;
  }
  return at;
}

// "-o" and "--output", or the name of an argument.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name());
  return names;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|<", at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

void markdown(const CLI::App& app, const std::string& name, std::string& out) {
  out += fmt::format("\n## {}\n\n{}\n", name, app.get_description());
  std::string table;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == "--help") continue;
    const std::string standard = option->get_default_str();
    table += fmt::format("| `{}` {} | {} | {} |\n", fmt::join(names_of(*option), "`, `"),
                         escaped(option->get_type_name()), escaped(option->get_description()),
                         standard.empty() ? "" : "`" + escaped(standard) + "`");
  }
  if (!table.empty()) out += "\n| option | meaning | default |\n| --- | --- | --- |\n" + table;
  if (!app.get_footer().empty()) {
    const std::string footer = app.get_footer();
    out += "\n```\n" + footer.substr(footer.find('\n') + 1) + "\n```\n";
  }
  for (const CLI::App* sub : subcommands(app)) markdown(*sub, name + " " + sub->get_name(), out);
}

std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : subcommands(app)) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    for (const std::string& name : names_of(*option)) words += name + " ";
  }
  return words;
}

// Lines of the completion's table: what may follow a command, and what may follow one of its
// options.
void completion_cases(const CLI::App& app, const std::string& path, std::string& out) {
  bool takes_file = false;
  for (const CLI::Option* option : app.get_options()) {
    std::string values = option->get_type_name();
    if (option->get_positional()) {
      takes_file = takes_file || values == "FILE";
      continue;
    }
    if (option->get_expected_max() == 0) {  // a flag: the next word is not its value
      values = words_after(app);
    } else if (values.find('|') != std::string::npos) {
      if (const std::size_t more = values.find(",..."); more != std::string::npos)
        values.erase(more);
      for (char& c : values) c = c == '|' ? ' ' : c;
    } else {
      continue;
    }
    for (const std::string& name : names_of(*option))
      out += fmt::format("    '{} {}') words='{}' ;;\n", path, name, values);
  }
  out +=
      fmt::format("    '{}') words='{}' files={} ;;\n", path, words_after(app), takes_file ? 1 : 0);
  for (const CLI::App* sub : subcommands(app))
    completion_cases(*sub, path + " " + sub->get_name(), out);
}

void command_paths(const CLI::App& app, const std::string& path, std::string& out) {
  for (const CLI::App* sub : subcommands(app)) {
    out += fmt::format("{}'{} {}'", out.empty() ? "" : "|", path, sub->get_name());
    command_paths(*sub, path + " " + sub->get_name(), out);
  }
}

}  // namespace

namespace {

// Every kind with its keys; those of traces are the options of a task.
std::string kinds_text() {
  std::string text;
  for (const std::string& name : data_kind_names()) {
    const DataKind& kind = find_data_kind(name);
    text += fmt::format("{}: {}\n", kind.name, kind.summary);
    if (name == "traces") {
      text += "  every option of a task (shellgame trace --help)\n";
      continue;
    }
    for (const DataKey& key : kind.keys)
      text += fmt::format("  {:<24} {}{}\n", key.name + "=" + key.form, key.help,
                          key.usual.empty() ? "" : fmt::format(" (usually {})", key.usual));
  }
  return text;
}

}  // namespace

std::string cli_markdown(const CLI::App& app) {
  std::string out =
      "# The tool's commands\n\nMade by `shellgame help --markdown` from the declarations that "
      "parse the command line; a "
      "test keeps it current.\nOptions of a task are keys of a TOML task file, too (`--task`). "
      "Exit codes: 0 success, 1 failure, 2 wrong use or wrong "
      "input.\n`shellgame --version` (`-V`) prints the version, and that of the generator; every "
      "command has `--help` (`-h`).\n";
  for (const CLI::App* sub : subcommands(app)) markdown(*sub, "shellgame " + sub->get_name(), out);
  return out + "\n## Kinds of data (`--kind`, `[task] kind`)\n\n```\n" + kinds_text() + "```\n";
}

std::string bash_completion(const CLI::App& app) {
  std::string cases, paths;
  completion_cases(app, app.get_name(), cases);
  command_paths(app, app.get_name(), paths);
  return "# bash completion for shellgame: source this file, or put it into bash's completions "
         "folder.\n"
         "_shellgame() {\n"
         "  local path='shellgame' words='' files=0 i previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local current=${COMP_WORDS[COMP_CWORD]}\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case \"$path ${COMP_WORDS[i]}\" in\n      " +
         paths +
         ") path+=\" ${COMP_WORDS[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  [[ $previous == -?* ]] && path+=\" $previous\"\n"
         "  case $path in\n" +
         cases +
         "    *' -'*) files=1 ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  ((files)) && COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "  return 0\n"
         "}\n"
         "complete -F _shellgame shellgame\n";
}

void add_help(CLI::App& app) {
  struct State {
    std::vector<std::string> words;
    bool markdown = false, numbers = false, kinds = false;
  };
  auto state = std::make_shared<State>();
  CLI::App* command =
      add_command(app, "help", "Print the help of a command.",
                  {"shellgame help trace", "shellgame help tokens encode"}, [state, &app] {
                    print_data(state->numbers    ? declared_numbers(app)
                               : state->kinds    ? kinds_text()
                               : state->markdown ? cli_markdown(app)
                                                 : find(app, state->words)->help());
                  });
  command->add_option("command", state->words, "the command")->type_name("COMMAND...");
  command->add_flag("--markdown", state->markdown,
                    "print the reference of all commands, as in docs/cli.md");
  command->add_flag("--kinds", state->kinds,
                    "print the kinds of data with their keys and usual values");
  command->add_flag("--numbers", state->numbers,
                    "print every number that options and files take, with its bounds, as JSON");
}

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = add_command(app, "completion", "Print the completion script for a shell.",
                                  {"source <(shellgame completion bash)"},
                                  [&app] { print_data(bash_completion(app)); });
  command->add_option("shell", *shell, "the shell")
      ->type_name("bash")
      ->required()
      ->check([shell](const std::string& text) {
        return text == "bash" ? std::string() : fmt::format("must be bash, not '{}'", text);
      });
}

}  // namespace shellgame
