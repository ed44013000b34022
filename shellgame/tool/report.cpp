// `shellgame report`: one page for one or several runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "shellgame/report/html_page.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/probe_options.h"
#include "shellgame/tool/run_source.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output;
  bool probe = false;
};

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-./=,:+@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_of(const ReportOptions& options) {
  std::string text = "shellgame report";
  for (const std::string& run : options.runs) text += " " + quoted(run);
  if (options.probe) text += " --probe";
  if (!options.output.empty()) text += " --output " + quoted(options.output);
  return text;
}

// The probes that a page draws, as `shellgame probe NAME --run RUN` asks them; commands, spacing
// and traces are that command's.
struct Probed {
  const char* name;
  std::uint64_t commands, spacing, count;
};
constexpr Probed kProbed[] = {
    {"find-tracker", 64, 2, 64}, {"betas", 512, 4, 4}, {"keys", 64, 4, 4}};

void ask(RunRecord& run) {
  if (!run.complete()) {
    run.refused["probes"] = "the run is not finished";
    return;
  }
  for (const Probed& question : kProbed) {
    ProbeOptions options;
    options.probe = question.name;
    options.count = question.count;
    options.format = "json";
    options.output = fmt::format("{}/probes/{}.json", run.directory, question.name);
    const auto experiment = open_run(run.directory, options.model, options.tokenizer);
    say("probe {}: {}", question.name, run.directory);
    try {
      options.data =
          probed_data(trained_task(*experiment).data, question.commands, question.spacing);
      fs::create_directories(run.directory + "/probes");
      learn_commands().probe(options);
    } catch (const UsageError& error) {  // no betas, no states, or a task that probes cannot read
      run.refused[question.name] = error.what();
    }
  }
}

void make_page(const ReportOptions& options) {
  std::vector<RunRecord> runs = read_runs(options.runs);
  if (options.probe) {
    for (RunRecord& run : runs) {
      ask(run);
      const auto refused = run.refused;
      const std::string sweep = run.sweep_command;
      run = read_run(run.directory);
      run.refused = refused;
      run.sweep_command = sweep;
    }
  }
  for (const RunRecord& run : runs) {
    for (const std::string& sentence : run.passed_over)
      say("note: {}; the line is passed over", sentence);
  }
  const std::string path = !options.output.empty()    ? options.output
                           : options.runs.size() == 1 ? options.runs[0] + "/report.html"
                                                      : "report.html";
  const std::string page = html_page(runs, command_of(options));
  write_file(path, page);
  if (path != "-")
    print_lines("{}: {} run{}, {} kB\n", path, runs.size(), runs.size() == 1 ? "" : "s",
                (page.size() + 999) / 1000);
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = add_command(
      app, "report",
      "Make one HTML page of runs: configuration, curves, tables, figures, environment.",
      {"shellgame report runs/s5", "shellgame report runs/s5 runs/s3 --output both.html",
       "shellgame report runs/s5/seed-0 --probe"},
      [options] { make_page(*options); });
  command
      ->add_option("runs", options->runs,
                   "directories of runs or of sweeps (all their runs); unfinished ones too")
      ->type_name("RUN")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "the page, or - for standard output; by default report.html in the run's "
                   "directory, or here if there are several")
      ->type_name("FILE");
  command->add_flag("--probe", options->probe,
                    "first probe each finished run (find-tracker, betas, keys; some seconds each) "
                    "and keep the answers in RUN/probes, where a page finds them");
}

}  // namespace shellgame
