// `shellgame quickstart`: a small first job that shows what the tool does.
#include <fmt/format.h>
#include <sys/stat.h>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/trace.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/verify.h"

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

void run(const std::string& folder, std::uint64_t count) {
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
    fmt::print("{}: {} traces, {}\n", path, count, part.what);
    report_replay(replay.finish(), "text", stdout);
    fmt::print("\n");
  }
  const Part last = parts().back();
  const Sampler sampler(last.task);
  const TraceMaker maker(sampler);
  Trace trace;
  maker.make(0, 0, trace, true);
  fmt::print("The first of {}/{}.jsonl, as a model sees it:\n\n{}\n", folder, last.name,
             trace.text.view());
  fmt::print("Its hidden states, after each command:");
  const std::size_t n = sampler.names()->size();
  for (std::size_t i = 0; i < trace.states.size(); ++i) {
    fmt::print("{}{}", i % n == 0 ? " " : "", sampler.names()->value(trace.states[i]).text);
  }
  fmt::print("\n\nNext: 'shellgame trace --help', 'shellgame help', docs/.\n");
}

}  // namespace

void add_quickstart(CLI::App& app) {
  struct Options {
    std::string folder = "quickstart";
    std::uint64_t count = 500;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "quickstart", "Make a few sets of traces, verify them with CPython, show one.",
      {"shellgame quickstart", "shellgame quickstart --count 50 --output first"},
      [options] { run(options->folder, options->count); });
  command->add_option("--output", options->folder, "the folder for the traces")
      ->type_name("DIR")
      ->capture_default_str();
  add_number(command, "--count", options->count, 0, "traces in each set");
}

}  // namespace shellgame
