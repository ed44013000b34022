// `shellgame quickstart`: the first job. Traces that CPython has confirmed, then the paper's
// abstract: three architectures trained on such traces.
#include <fmt/format.h>
#include <sys/stat.h>

#include "generated_quickstart.h"
#include "shellgame/report/sweep_charts.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/verify.h"
#include "shellgame/traces/trace.h"
#include "shellgame/train/run_sweep.h"

namespace shellgame {
namespace {

struct Part {
  const char* name;
  const char* what;
  Task task;
};

std::vector<Part> parts() {
  Task swaps;
  swaps.group = "S3";
  swaps.moves = Moves::kSwaps;
  swaps.commands = 12;
  swaps.spacing = 3;
  Task hidden = swaps;
  hidden.branching = true;
  return {{"permutations", "S5, 64 full permutations, a reveal after every 8", Task()},
          {"swaps", "S3, 12 swaps, a reveal after every 3", swaps},
          {"hidden", "the same, where each swap happens with probability 1/2, unseen", hidden}};
}

void show_traces(const std::string& folder, std::uint64_t count) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    fail("cannot make the folder '{}'", folder);
  for (const Part& part : parts()) {
    const Sampler sampler(part.task);
    const TraceMaker maker(sampler);
    const std::string path = fmt::format("{}/{}.jsonl", folder, part.name);
    OutputFile file(path);
    Replay replay{ReplayOptions{}};
    Trace trace;
    std::string line;
    for (std::uint64_t index = 0; index < count; ++index) {
      maker.make(0, index, trace, true);
      replay.add(index, trace.text.view(), trace.python_seed);
      line.clear();
      maker.append_json(trace, line);
      file.write(line);
    }
    file.commit();
    print_lines("{}: {} traces, {}\n", path, count, part.what);
    report_replay(replay.finish(), "text", ReplayPlace::kOutput);
    print_lines("\n");
  }
  const Part last = parts().back();
  const Sampler sampler(last.task);
  const TraceMaker maker(sampler);
  Trace trace;
  maker.make(0, 0, trace, true);
  print_lines("The first of {}/{}.jsonl, as a model sees it:\n\n{}\n", folder, last.name,
              trace.text.view());
  print_lines("Its hidden states, after each command:");
  const std::size_t n = sampler.names()->size();
  for (std::size_t i = 0; i < trace.states.size(); ++i) {
    print_lines("{}{}", i % n == 0 ? " " : "", sampler.names()->value(trace.states[i]).text);
  }
  print_lines("\n\n");
}

using Json = nlohmann::ordered_json;

double accuracy_at(const Json& entry, std::size_t cell) {
  return entry["cells"].at(cell)["accuracy"][0].get<double>();
}

void compare_architectures(const std::string& folder) {
  const std::string experiment = folder + "/quickstart.toml", runs = folder + "/runs";
  write_file(experiment, kQuickstartExperiment);
  const Json all = sweep_json(run_sweep({.experiment = experiment, .run = runs}, 1));
  for (const Json& entry : all["runs"]) {
    for (const Json& failed : entry["failed"])
      fail("the run of {} failed: {}", settings_name(entry), failed["why"].get<std::string>());
  }
  const ChartTexts texts{.title = "S3, a reveal after every 4 commands",
                         .note = "shellgame quickstart",
                         .chance = 1.0 / 3};
  LineChart lengths = cells_chart(all, "commands", "", 0, texts);
  lengths.x_label = "commands (trained on 2 to 32)";
  write_file(folder + "/lengths.svg", lengths.svg());
  write_file(folder + "/training.svg", training_chart(all, runs, texts).svg());
  print_lines(
      "Accuracy of revealed values, S3 permutations, a reveal after every 4 commands (chance "
      "0.333):\n\n{:<18}",
      "commands");
  for (const Json& cell : all["runs"][0]["cells"])
    print_lines("{:>8}", cell["commands"].get<int>());
  print_lines("{:>12}{:>10}{:>9}\n", "parameters", "tokens", "seconds");
  for (const Json& entry : all["runs"]) {
    print_lines("{:<18}", settings_name(entry));
    for (std::size_t i = 0; i < entry["cells"].size(); ++i)
      print_lines("{:>8.3f}", accuracy_at(entry, i));
    print_lines("{:>12}{:>9.1f}M{:>9.0f}\n", entry["parameters"].get<int>(),
                entry["tokens"][0].get<double>() / 1e6, entry["seconds"][0].get<double>());
  }
  const std::size_t trained = 1, last = all["runs"][0]["cells"].size() - 1;
  const Json &attention = all["runs"][0], &linear = all["runs"][1], &plain = all["runs"][2];
  print_lines(
      "\nThe paper: linear RNNs capable of state tracking excel here, while Transformers still "
      "fail. Here, at the trained length: {} {:.3f}, "
      "{} {:.3f}, {} {:.3f}; at {} times that length: {:.3f}, {:.3f}, {:.3f}.\n",
      settings_name(linear), accuracy_at(linear, trained), settings_name(plain),
      accuracy_at(plain, trained), settings_name(attention), accuracy_at(attention, trained),
      linear["cells"][last]["commands"].get<int>() /
          linear["cells"][trained]["commands"].get<int>(),
      accuracy_at(linear, last), accuracy_at(plain, last), accuracy_at(attention, last));
  print_lines(
      "\nCurves: {0}/lengths.svg, {0}/training.svg. Runs: {0}/runs.\n"
      "Next: 'shellgame evaluate --help' on a run, 'shellgame train --help', docs/.\n",
      folder);
}

void run(const std::string& folder, std::uint64_t count, bool traces_only) {
  show_traces(folder, count);
  if (!traces_only) compare_architectures(folder);
}

}  // namespace

void add_quickstart(CLI::App& app) {
  struct Options {
    std::string folder = "quickstart";
    std::uint64_t count = 500;
    bool traces_only = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "quickstart",
      "Make traces, verify them with CPython, and train three architectures on such traces.",
      {"shellgame quickstart", "shellgame quickstart --traces-only --output first"},
      [options] { run(options->folder, options->count, options->traces_only); });
  command->add_option("-o,--output", options->folder, "the folder for traces, runs and curves")
      ->type_name("DIR")
      ->capture_default_str();
  add_number(command, "--count", options->count, NumberBounds::whole(0, 1'000'000'000),
             "traces in each set");
  command->add_flag("--traces-only", options->traces_only, "train nothing");
}

}  // namespace shellgame
