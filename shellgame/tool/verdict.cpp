// `shellgame verdict`: what a rule that was written down before the runs says of their results.
#include "shellgame/report/verdict.h"

#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/run_source.h"

namespace shellgame {
namespace {

void give(const std::string& file, const std::string& format, const std::string& output) {
  const VerdictRule rule = read_verdict_rule(file);
  std::vector<VerdictRegime> regimes = read_verdict_regimes(rule);
  if (regimes.empty())
    fail("a verdict needs results, and none of the files that '{}' names is there", file);
  if (regimes.size() < rule.regimes.size())
    say("note: {} of {} regimes have results", regimes.size(), rule.regimes.size());
  const Verdict verdict = give_verdict(rule, std::move(regimes));
  OutputFile out(output);
  out.write(format == "json" ? to_json(verdict).dump(1) + "\n" : to_text(verdict));
  out.commit();
}

}  // namespace

void add_verdict(CLI::App& app) {
  struct Options {
    std::string rule, format = "text", output = "-";
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "verdict",
                  "Judge the results of the experiment under uncertainty by its rule "
                  "(docs/uncertainty.md).",
                  {"shellgame verdict experiments/uncertainty/rule.toml",
                   "shellgame verdict rule.toml --format json --output verdict.json"},
                  [options] { give(options->rule, options->format, options->output); });
  command->add_option("rule", options->rule, "a TOML file: arms, levels, files of results")
      ->type_name("FILE")
      ->required();
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
  command->add_option("-o,--output", options->output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
}

}  // namespace shellgame
