#include "shellgame/train/run_tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/train/experiment.h"
#include "shellgame/train/side_by_side.h"

namespace shellgame {
namespace {

SweepOptions as_sweep(const TuneOptions& options) {
  SweepOptions sweep;
  sweep.experiment = options.experiment;
  sweep.run = options.run;
  sweep.plugins = options.plugins;
  sweep.arms = options.arms;
  sweep.jobs = options.jobs;
  sweep.program = options.program;
  return sweep;
}

std::vector<std::string> arms_of(const TuneOptions& options) {
  const std::vector<std::string> all = experiment_arms(options.experiment);
  if (options.arms.empty()) return all.empty() ? std::vector<std::string>{""} : all;
  for (const std::string& arm : options.arms) {
    if (std::ranges::find(all, arm) == all.end())
      wrong_use("--arms must name arms of '{}', not '{}'", options.experiment, arm);
    if (std::ranges::count(options.arms, arm) > 1) wrong_use("--arms must name '{}' once", arm);
  }
  return options.arms;
}

// A name of a directory that every system takes.
std::string folder_of(const std::string& arm) {
  std::string name = arm;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name;
}

// The numbers and words of the last stage's axes, as TOML.
std::vector<std::string> evaluated_axes(const Experiment& experiment) {
  std::vector<std::string> settings;
  for (const auto& [axis, values] : experiment.stages.back().axes)
    settings.push_back(fmt::format("evaluation.{}={}", axis,
                                   experiment.resolved.at("stages").back().at(axis).dump()));
  return settings;
}

// A trial sees the trained length, whatever the file is evaluated on, and traces of its own.
std::vector<std::string> trial_settings(const TuneOptions& options, const TuneSpace& space,
                                        const std::string& arm, const TuneDraw& draw) {
  std::vector<std::string> settings;
  if (!arm.empty()) settings.push_back("arm=" + arm);
  const Experiment plain = read_experiment(options.experiment, settings);
  settings.insert(settings.end(), draw.settings.begin(), draw.settings.end());
  const Experiment drawn = read_experiment(options.experiment, settings);
  const std::vector<std::string> axes = evaluated_axes(plain);
  if (evaluated_axes(drawn) != axes || drawn.resolved.at("task") != plain.resolved.at("task") ||
      drawn.resolved.at("evaluation") != plain.resolved.at("evaluation"))
    throw InputError(options.experiment,
                     "key 'tune.space' must leave [task], [evaluation] and the length of the last "
                     "stage alone: all trials are judged on the same");
  if (space.seed == plain.evaluation.seed)
    throw InputError(
        options.experiment,
        fmt::format("key 'tune.seed' must not be that of [evaluation], {}", space.seed));
  for (std::size_t i = 0; i < drawn.stages.size(); ++i) {
    const double steps = static_cast<double>(drawn.stages[i].steps) * space.share;
    settings.push_back(
        fmt::format("stages.{}.steps={}", i, std::max<std::int64_t>(1, std::llround(steps))));
  }
  settings.insert(settings.end(), axes.begin(), axes.end());
  settings.push_back("evaluation.every=0");
  settings.push_back(fmt::format("evaluation.count={}", space.count));
  settings.push_back(fmt::format("evaluation.seed={}", space.seed));
  if (options.budget > 0)
    settings.push_back(
        fmt::format("budget={}", options.budget / static_cast<double>(options.trials)));
  return settings;
}

// The mean of what is selected over the cells.
std::optional<double> score_of(const TuneSpace& space, const SweepRow& row) {
  double sum = 0;
  for (const SweepJson& cell : row.cells) {
    const auto found = cell.find(space.select);
    if (found == cell.end() || !found->is_number())
      fail("select = \"{}\" needs cells that have it, and '{}' has none: {}", space.select,
           row.directory,
           space.select == "regret" ? "without an exact belief choose \"accuracy\""
                                    : "the evaluation asked for nothing");
    sum += found->get<double>();
  }
  if (row.cells.empty() || !std::isfinite(sum)) return std::nullopt;
  return sum / static_cast<double>(row.cells.size());
}

}  // namespace

std::vector<SweepRun> plan_trials(const TuneOptions& options) {
  const TuneSpace space = experiment_tune_space(options.experiment);
  const std::vector<TuneDraw> draws = draw_trials(space, options.trials);
  std::vector<SweepRun> runs;
  for (const std::string& arm : arms_of(options)) {
    for (std::uint64_t trial = 0; trial < options.trials; ++trial) {
      runs.push_back({.settings = trial_settings(options, space, arm, draws[trial]),
                      .seed = space.seed + trial,
                      .directory = fmt::format("{}{}/trial-{}", options.run,
                                               arm.empty() ? "" : "/" + folder_of(arm), trial)});
      for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        if (runs[i].directory == runs.back().directory)
          wrong_use(
              "the arms must have names that differ in letters and digits: two would share "
              "'{}'",
              runs[i].directory);
      }
    }
  }
  return runs;
}

TuneResults run_tune(const TuneOptions& options, int threads) {
  std::vector<SweepRun> runs = plan_trials(options);
  const SweepOptions sweep = as_sweep(options);
  run_side_by_side("tune", sweep, runs, threads);
  const SweepResults gathered = gather_sweep(sweep, runs);
  TuneResults results{.command = tune_command(options),
                      .experiment = options.experiment,
                      .space = experiment_tune_space(options.experiment),
                      .trials = options.trials,
                      .budget = options.budget,
                      .environments = gathered.environments,
                      .differences = gathered.differences};
  const std::vector<TuneDraw> draws = draw_trials(results.space, options.trials);
  const std::vector<std::string> arms = arms_of(options);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    TuneTrial trial{.arm = arms[i / options.trials],
                    .trial = i % options.trials,
                    .draw = draws[i % options.trials],
                    .failure = runs[i].ending};
    for (const SweepEntry& entry : gathered.entries) {
      for (const SweepRow& row : entry.rows) {
        if (options.run + "/" + row.directory == runs[i].directory) trial.row = row;
      }
    }
    if (trial.row.steps > 0) trial.score = score_of(results.space, trial.row);
    trial.cut = trial.row.cut;
    results.all.push_back(std::move(trial));
  }
  write_file(options.run + "/tune.json", tune_json(results).dump(1) + "\n");
  return results;
}

}  // namespace shellgame
