// `shellgame sweep`: one experiment with many seeds and settings, as many runs at once as cores
// allow, and one table at the end. Runs are `shellgame train` processes in directories of their
// own, so that a sweep can stop and go on as they can.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "shellgame/report/sweep_charts.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/interrupts.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/parent_death.h"
#include "shellgame/system/process.h"
#include "shellgame/system/read_json.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/sweep.h"
#include "shellgame/train/cell_name.h"
#include "shellgame/train/display.h"
#include "shellgame/train/experiment.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct OneRun {
  std::vector<std::string> settings;  // of this run, key=value
  std::uint64_t seed = 0;
  std::string directory;
  std::string ending = {};  // why it failed; empty: complete
};

// "0..4" or "0,3,7".
std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  return parse_whole_list("--seeds", kSmallSeedBounds, text, true);
}

// "key=a,b,c" as the three settings; commas inside brackets, braces and quotes belong to a value.
std::vector<std::string> values_of(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) wrong_use("--set must be key=value, not '{}'", setting);
  std::vector<std::string> values;
  std::string value;
  int depth = 0;
  bool quoted = false;
  for (const char c : setting.substr(equals + 1)) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      values.push_back(setting.substr(0, equals + 1) + value);
      value.clear();
    } else {
      value += c;
    }
  }
  values.push_back(setting.substr(0, equals + 1) + value);
  return values;
}

// A directory's name for settings: letters that every system takes.
std::string folder_name(const std::vector<std::string>& settings) {
  std::string name = fmt::format("{}", fmt::join(settings, ","));
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("=,.-_").find(c) == std::string_view::npos)
      c = '_';
  }
  return name;
}

std::vector<OneRun> runs_of(const SweepOptions& options) {
  std::vector<std::string> all = options.settings;
  for (const std::string& setting : all) {
    const std::string key = setting.substr(0, setting.find('='));
    for (const auto& [own, option] :
         {std::pair("seed", "--seeds"), std::pair("arm", "--arms"),
          std::pair("threads", "--threads"), std::pair("from", "--from")}) {
      if (key == own)
        wrong_use("a sweep must have its {} from {}, not from --set {}", own, option, setting);
    }
  }
  const auto arms = experiment_arms(options.experiment);
  if (arms.empty() && !options.arms.empty())
    wrong_use("--arms must name arms of '{}', which has none", options.experiment);
  if (!arms.empty()) {
    const auto names = options.arms.empty() ? arms : options.arms;
    all.insert(all.begin(), fmt::format("arm=\"{}\"", fmt::join(names, "\",\"")));
  }
  std::vector<std::vector<std::string>> combinations = {{}};
  for (const std::string& setting : all) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& combination : combinations) {
      for (std::string value : values_of(setting)) {
        if (value.starts_with("arm=")) std::erase(value, '"');
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  // Settings that do not vary are left out of the names.
  std::vector<OneRun> runs;
  for (const auto& combination : combinations) {
    std::vector<std::string> varied;
    for (std::size_t i = 0; i < combination.size(); ++i) {
      if (values_of(all[i]).size() > 1) varied.push_back(combination[i]);
    }
    for (const std::uint64_t seed : parse_seeds(options.seeds)) {
      std::string directory = options.run;
      if (!varied.empty()) directory += "/" + folder_name(varied);
      runs.push_back({combination, seed, fmt::format("{}/seed-{}", directory, seed)});
    }
  }
  std::map<std::string, const OneRun*> places;
  for (const OneRun& run : runs) {
    const auto [found, fresh] = places.emplace(run.directory, &run);
    if (!fresh)
      wrong_use(
          "every run of a sweep must have a directory of its own, and '{}' would be that of '{}' "
          "and of '{}'",
          run.directory, fmt::join(found->second->settings, " "), fmt::join(run.settings, " "));
  }
  return runs;
}

std::atomic<bool> interrupted = false;
void on_signal(int) { interrupted = true; }

// The model that a run starts from.
std::string from_of(const SweepOptions& options, const OneRun& run) {
  std::string from = options.from;
  if (const std::size_t place = from.find("{seed}"); place != std::string::npos)
    from.replace(place, 6, std::to_string(run.seed));
  return from;
}

// What is wrong with a setting is said before the first run, and so is a directory that has a run
// of another experiment: its results are not those that are asked for.
void check_run(const SweepOptions& options, const OneRun& run, int threads) {
  std::vector<std::string> changes = run.settings;
  changes.push_back(fmt::format("seed={}", run.seed));
  Experiment given = read_experiment(options.experiment, changes);
  set_run_choices(given, threads, from_of(options, run));
  const std::string record = run.directory + "/experiment.toml";
  if (!fs::exists(record)) return;
  const std::string difference = experiment_difference(read_experiment(record), given);
  if (!difference.empty())
    wrong_use("'{}' must have no run, or one of the same experiment; {}", run.directory,
              difference);
}

// Runs one to its end; says why if it fails.
std::string run_one(const SweepOptions& options, const OneRun& run, int threads) {
  std::error_code error;
  std::vector<std::string> command = {fs::read_symlink("/proc/self/exe", error).string(),
                                      "train",
                                      options.experiment,
                                      "--run",
                                      run.directory,
                                      "--resume",
                                      "--quiet",
                                      "--threads",
                                      std::to_string(threads),
                                      "--set",
                                      fmt::format("seed={}", run.seed)};
  for (const std::string& setting : run.settings) {
    command.push_back("--set");
    command.push_back(setting);
  }
  if (!options.from.empty()) {
    command.push_back("--from");
    command.push_back(from_of(options, run));
  }
  Process process(command);
  std::string_view nothing;
  std::string received;
  bool told = false;
  while (process.exchange(nothing, received, std::chrono::milliseconds(500))) {
    if (!interrupted || told) continue;
    ::kill(process.id(), SIGTERM);  // it ends its step, with a checkpoint
    told = true;
  }
  const std::string ending = process.end(std::chrono::hours(24));
  std::string last = process.errors();
  while (last.ends_with('\n')) last.pop_back();
  if (ending == "exit code 0") {
    if (!last.empty()) say("{}: {}", run.directory, last);  // warnings
    return "";
  }
  if (const std::size_t line = last.rfind('\n'); line != std::string::npos) last.erase(0, line + 1);
  return last.empty() ? ending : last;
}

// Null if there is no such file.
Json read_json(const std::string& path) {
  if (!fs::exists(path)) return Json();
  return parse_ordered_json(read_file(path), path);
}

Json read_result(const OneRun& run) {
  Json result = read_json(run.directory + "/result.json");
  const bool numbers =
      result.is_null() || (result.is_object() && std::ranges::all_of(result, [](const Json& value) {
                             return value.is_number();
                           }));
  if (!numbers)
    throw InputError(run.directory + "/result.json", "a result must be an object of numbers");
  return result;
}

Json read_cells(const OneRun& run) {
  Json cells = read_json(run.directory + "/evaluation.json");
  for (const Json& cell : cells) {
    if (!cell.is_object() || !cell.value("spacing", Json(0)).is_number() ||
        !cell.value("positions", Json::array()).is_array())
      throw InputError(run.directory + "/evaluation.json",
                       "an evaluation must be a list of cells, as 'shellgame train' writes it");
  }
  return cells;
}

// What a run has to tell; a damaged file makes it one that failed.
std::pair<Json, Json> outcome_of(OneRun& run) {
  try {
    return {read_result(run), read_cells(run)};
  } catch (const Error& error) {
    run.ending = error.what();
    return {};
  }
}

struct Spread {
  double mean = 0, deviation = 0;
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  for (const double value : values)
    spread.deviation += (value - spread.mean) * (value - spread.mean);
  spread.deviation =
      values.size() > 1 ? std::sqrt(spread.deviation / static_cast<double>(values.size() - 1)) : 0;
  return spread;
}

// The command that makes these results again; where to is the reader's choice.
std::string command_of(const SweepOptions& options) {
  const auto quoted = [](const std::string& word) {
    return word.find_first_of(" []*{}$'\"") == std::string::npos ? word : fmt::format("'{}'", word);
  };
  std::string text =
      fmt::format("shellgame sweep {} --seeds {}", quoted(options.experiment), options.seeds);
  for (const std::string& arm : options.arms) text += " --arms " + quoted(arm);
  for (const std::string& setting : options.settings) text += " --set " + quoted(setting);
  if (!options.from.empty()) text += " --from MODEL_DIR";
  return text + " --run DIR";
}

// All results, by settings, then by cell: each seed's numbers with mean and deviation.
Json gather(const SweepOptions& options, std::vector<OneRun>& runs) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size();) {
    Json entry = {
        {"settings", runs[i].settings},       {"seeds", Json::array()},  {"seconds", Json::array()},
        {"processor_seconds", Json::array()}, {"tokens", Json::array()}, {"steps", Json::array()},
        {"train_accuracy", Json::array()},    {"failed", Json::array()}, {"cells", Json::array()}};
    std::size_t j = i;
    for (; j < runs.size() && runs[j].settings == runs[i].settings; ++j) {
      const auto [result, cells] = outcome_of(runs[j]);
      if (!result.is_object()) {
        entry["failed"].push_back({{"seed", runs[j].seed}, {"why", runs[j].ending}});
        continue;
      }
      entry["parameters"] = result.value("parameters", 0);
      entry["seeds"].push_back(runs[j].seed);
      entry["directories"].push_back(runs[j].directory.substr(options.run.size() + 1));
      entry["seconds"].push_back(result.value("seconds", 0.0));
      entry["processor_seconds"].push_back(result.value("processor_seconds", 0.0));
      entry["tokens"].push_back(result.value("tokens", 0));
      entry["steps"].push_back(result.value("steps", 0));
      entry["train_accuracy"].push_back(result.value("accuracy", 0.0));
      if (!cells.is_array()) continue;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (entry["cells"].size() <= c) {
          Json cell = {{"name", cell_name(cells[c])}};
          for (const char* key : {"commands", "spacing", "length"}) {
            if (cells[c].contains(key)) cell[key] = cells[c][key];
          }
          entry["cells"].push_back(cell);
        }
        for (const auto& [key, value] : cells[c].items()) {
          if (value.is_number() && key != "commands" && key != "spacing" && key != "length")
            entry["cells"][c][key].push_back(value);
        }
        if (!cells[c].contains("positions")) continue;
        Json by_position = Json::array();  // accuracy of each reveal, in order
        for (const Json& position : cells[c]["positions"])
          by_position.push_back(position.is_object() ? position.value("accuracy", Json()) : Json());
        entry["cells"][c]["by_position"].push_back(by_position);
      }
    }
    list.push_back(entry);
    i = j;
  }
  Json environment;
  try {
    environment = read_json(runs.front().directory + "/environment.json");
  } catch (const Error& error) {
    say("note: {}", error.what());
  }
  if (environment.is_array() && !environment.empty()) environment = Json(environment.back());
  if (environment.is_object()) environment.erase("command");  // of one run among many
  return {{"command", command_of(options)},
          {"experiment", options.experiment},
          {"seeds", options.seeds},
          {"environment", environment},
          {"runs", list}};
}

}  // namespace

nlohmann::ordered_json run_sweep(const SweepOptions& options, int threads) {
  std::vector<OneRun> runs = runs_of(options);
  for (const OneRun& one : runs) check_run(options, one, threads);
  fs::create_directories(options.run);
  const int cores = default_thread_count();
  const auto jobs = static_cast<std::size_t>(
      options.jobs > 0 ? options.jobs : std::max(1, cores / std::max(1, threads)));
  say("sweep: {} runs, {} at once, {} thread{} each", runs.size(), jobs, threads,
      threads == 1 ? "" : "s");
  handle_interrupts(on_signal);
  take_children_along();
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next++;
      if (i >= runs.size() || interrupted) return;
      const bool before = fs::exists(runs[i].directory + "/result.json");
      Json result;
      try {
        // Hours may have passed since the first look.
        check_run(options, runs[i], threads);
        if (!before) runs[i].ending = run_one(options, runs[i], threads);
        result = read_result(runs[i]);
      } catch (const std::exception& error) {
        runs[i].ending = error.what();
      }
      const std::scoped_lock lock(mutex);
      ++done;
      const double gone =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      say("sweep: {}/{} {}: {} ({} elapsed)", done, runs.size(), runs[i].directory,
          !runs[i].ending.empty() ? runs[i].ending
          : before                ? "was complete"
          : result.is_object()
              ? fmt::format("accuracy {:.4f} in training, {}", result.value("accuracy", 0.0),
                            clock_text(result.value("seconds", 0.0)))
              : "interrupted",
          clock_text(gone));
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(jobs, runs.size()); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  if (interrupted) fail("interrupted: run the same command to continue");
  // Nobody may have put other runs there meanwhile.
  for (const OneRun& one : runs) check_run(options, one, threads);
  const Json all = gather(options, runs);
  write_file(options.run + "/sweep.json", all.dump(1) + "\n");
  return all;
}

void print_sweep(const Json& all) {
  for (const Json& entry : all["runs"]) {
    const auto settings = entry["settings"].get<std::vector<std::string>>();
    print_lines("{}\n",
                settings.empty() ? "as in the file" : fmt::format("{}", fmt::join(settings, " ")));
    if (!entry["seconds"].empty()) {
      const auto seconds = entry["seconds"].get<std::vector<double>>();
      const auto tokens = entry["tokens"].get<std::vector<double>>();
      print_lines("  {} parameters; {} seeds; {:.0f} s and {:.1f} million tokens a run\n",
                  entry.value("parameters", 0), seconds.size(), spread_of(seconds).mean,
                  spread_of(tokens).mean / 1e6);
    }
    for (const Json& cell : entry["cells"]) {
      const auto values = cell["accuracy"].get<std::vector<double>>();
      const Spread spread = spread_of(values);
      print_lines("  {:<14} accuracy {:.4f} ± {:.4f}   [{:.4f}]\n", cell["name"].get<std::string>(),
                  spread.mean, spread.deviation, fmt::join(values, ", "));
    }
    for (const Json& failed : entry["failed"])
      print_lines("  seed {} failed: {}\n", failed["seed"].get<std::uint64_t>(),
                  failed["why"].get<std::string>());
  }
}

namespace {

// What guessing gives, if it is the same in every cell of every run; else 0.
double common_chance(const Json& all) {
  std::set<double> chances;
  for (const Json& entry : all["runs"]) {
    for (const Json& cell : entry["cells"]) {
      for (const Json& chance : cell.value("chance", Json::array()))
        chances.insert(chance.get<double>());
    }
  }
  return chances.size() == 1 ? *chances.begin() : 0;
}

std::vector<std::string> draw(const Json& all, const SweepOptions& options) {
  const auto settings = all["runs"][0]["settings"].get<std::vector<std::string>>();
  return draw_sweep(all, options.run,
                    {.title = read_experiment(options.experiment, settings).name,
                     .note = all["command"].get<std::string>(),
                     .chance = common_chance(all)});
}

}  // namespace

void add_sweep(CLI::App& app) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = add_command(
      app, "sweep", "Many runs of an experiment, side by side, with one table at the end.",
      {"shellgame sweep experiments/smoke.toml --seeds 0..4 --run runs/smoke",
       "shellgame sweep experiments/smoke.toml --seeds 0..2 --set "
       "model.allow_neg_eigval=true,false --run runs/range"});
  command->callback([options, command] {
    const Json all = run_sweep(*options, command->count("--threads") > 0 ? thread_count() : 1);
    const bool json = options->format == "json";
    if (json) {
      print_data(all.dump(1) + "\n");
    } else {
      print_sweep(all);
    }
    const std::vector<std::string> drawn = draw(all, *options);
    if (!json && !drawn.empty())
      print_lines("Curves: {}/{{{}}}\n", options->run, fmt::join(drawn, ","));
    for (const Json& entry : all["runs"]) {
      if (!entry["failed"].empty()) fail("some runs failed: the same command tries them again");
    }
  });
  set_help(command->get_option("--threads"),
           "threads of each run, by default 1. The same number gives the same bits");
  command->add_option("experiment", options->experiment, "a TOML file (docs/training.md)")
      ->type_name("FILE")
      ->required();
  command->add_option("--arms", options->arms, "only these arms of the file")
      ->type_name("NAME")
      ->allow_extra_args(false);
  CLI::Option* seeds = command->add_option_function<std::string>(
      "--seeds",
      [options](const std::string& text) {
        parse_seeds(text);
        options->seeds = text;
      },
      "0..4, or 0,3,7");
  seeds->type_name("SEEDS")->default_str(options->seeds);
  declare_numbers(seeds, {{"--seeds", kSmallSeedBounds}, {"--seeds", kSmallSeedBounds, "0..{}"}});
  command
      ->add_option("--set", options->settings,
                   "change a key; several values, separated by commas, are tried one by one, and "
                   "several --set in every combination")
      ->type_name("KEY=A,B")
      ->allow_extra_args(false);
  command->add_option("--run", options->run, "the directory of all runs")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--from", options->from,
                   "start from this model's weights; {seed} stands for the run's seed")
      ->type_name("MODEL_DIR");
  add_number(command, "--jobs", options->jobs, NumberBounds::whole(1, kMostThreads),
             "runs at once; by default as many as cores allow with one thread each (or "
             "--threads)")
      ->default_str("");
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the table");
}

}  // namespace shellgame
