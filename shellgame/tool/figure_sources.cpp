#include "shellgame/tool/figure_sources.h"

#include <fmt/format.h>

#include <filesystem>

#include "generated_figure_experiments.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tool/probe_options.h"
#include "shellgame/tool/run_source.h"
#include "shellgame/train/run_sweep.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Small {
  const char *name, *toml;
  std::vector<std::uint64_t> seeds;
  const char *seeds_text, *what;
  std::vector<std::string> settings;
};

const Small& small_of(SmallExperiment experiment) {
  static const Small architectures{"figures", kFiguresExperiment,           {0, 1},
                                   "0,1",     "three architectures on S_3", {}};
  static const Small spacing{"figures-spacing",
                             kFiguresSpacingExperiment,
                             {0, 1},
                             "0,1",
                             "Transformer and DeltaNet on S_3 with four spacings",
                             {"task.moves=swaps,permutations", "stages.2.spacing=1,2,3,4"}};
  static const Small inside{"s5-fast",
                            kS5FastExperiment,
                            {0, 1, 2},
                            "0..2",
                            "DeltaNet [-1,1] on S_5, as experiments/s5-fast/experiment.toml",
                            {}};
  switch (experiment) {
    case SmallExperiment::kArchitectures:
      return architectures;
    case SmallExperiment::kSpacing:
      return spacing;
    case SmallExperiment::kInside:
      break;
  }
  return inside;
}

}  // namespace

const std::vector<Measured>& ToolFigureSources::found() {
  if (searched_) return found_;
  searched_ = true;
  for (const std::string& directory : options_.runs) {
    const auto runs = measured_of_runs(directory);
    if (runs.empty())
      fail("--runs must name a directory with finished runs, and none is below '{}'", directory);
    found_.insert(found_.end(), runs.begin(), runs.end());
  }
  if (!options_.results.empty()) {
    const auto published = measured_of_results(options_.results);
    found_.insert(found_.end(), published.begin(), published.end());
  }
  return found_;
}

std::vector<Measured> ToolFigureSources::trained(SmallExperiment experiment) {
  if (const auto known = trained_.find(experiment); known != trained_.end()) return known->second;
  const Small& small = small_of(experiment);
  const std::string folder = fmt::format("{}/runs/{}", options_.out, small.name);
  const std::string file = folder + ".toml";
  if (fs::exists(file) && read_file(file) != small.toml)
    fail("'{}' must be the experiment that this version trains; remove '{}' and its runs", file,
         file);
  const bool before = fs::exists(folder + "/sweep.json");
  if (!before && !options_.may_train)
    fail("small runs must be trained for this ({}), and --no-training forbids it", small.what);
  say("figures: {} {} (seeds {}), in {}",
      before ? "using what was trained before:" : "nothing suitable was found; training",
      small.what, small.seeds_text, folder);
  fs::create_directories(options_.out + "/runs");
  write_file(file, small.toml);
  const SweepResults results = run_sweep({.experiment = file,
                                          .seeds = small.seeds,
                                          .seeds_text = small.seeds_text,
                                          .run = folder,
                                          .settings = small.settings},
                                         1);
  for (const SweepEntry& entry : results.entries) {
    for (const SweepFailure& failed : entry.failed) fail("a small run failed: {}", failed.why);
  }
  std::vector<Measured> runs = measured_of_runs(folder);
  for (Measured& one : runs) one.from = "small runs, trained for this figure";
  return trained_[experiment] = runs;
}

std::vector<TableRecord> ToolFigureSources::records(const std::string& file) {
  const std::string path =
      fmt::format("{}/uncertainty/{}", options_.results.empty() ? "." : options_.results, file);
  if (!fs::exists(path))
    fail("this figure needs '{}' (experiments/uncertainty/README.md has the commands that make it)",
         path);
  return read_table_records(path, "");
}

std::optional<Verdict> ToolFigureSources::verdict() {
  const std::string file = options_.results + "/uncertainty/rule.toml";
  if (options_.results.empty() || !fs::exists(file)) return {};
  const VerdictRule rule = read_verdict_rule(file);
  std::vector<VerdictRegime> regimes = read_verdict_regimes(rule);
  if (regimes.empty()) return {};
  return give_verdict(rule, std::move(regimes));
}

Json ToolFigureSources::probe(const std::string& run, const std::string& name) {
  const auto key = std::pair(run, name);
  if (const auto known = probed_.find(key); known != probed_.end()) return known->second;
  ProbeOptions options;
  options.probe = name;
  const std::optional<Experiment> experiment = open_run(run, options.model, options.tokenizer);
  // The paper's: betas and keys of 512 commands with spacing 4, interventions at 64 and 2.
  const bool distribution = name == "betas" || name == "keys";
  options.data =
      probed_data(trained_task(*experiment).data, distribution ? 512 : 64, distribution ? 4 : 2);
  options.count = name == "betas" ? 4 : name == "keys" ? 1 : 64;
  std::string file = fmt::format("{}-{}.json", run, name);
  for (char& c : file) {
    if (c == '/') c = '-';
  }
  while (file.starts_with('-') || file.starts_with('.')) file.erase(0, 1);
  options.format = "json";
  options.output = fmt::format("{}/data/{}", options_.out, file);
  fs::create_directories(options_.out + "/data");
  say("figures: probing {} ({})", run, name);
  learn_commands().probe(options);
  return probed_[key] = parse_ordered_json(read_file(options.output), options.output);
}

}  // namespace shellgame
