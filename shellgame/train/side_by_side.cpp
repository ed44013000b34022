#include "shellgame/train/side_by_side.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "shellgame/system/interrupts.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/parent_death.h"
#include "shellgame/system/process.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"
#include "shellgame/train/display.h"
#include "shellgame/train/sweep_results.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> sweep_interrupted = false;
void on_sweep_signal(int) { sweep_interrupted = true; }

std::vector<std::string> train_command(const SweepOptions& options, const SweepRun& run,
                                       int threads) {
  std::error_code error;
  std::vector<std::string> command = {options.program.empty()
                                          ? fs::read_symlink("/proc/self/exe", error).string()
                                          : options.program,
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
  if (!run.from.empty()) {
    command.push_back("--from");
    command.push_back(run.from);
  }
  for (const std::string& plugin : options.plugins) {
    command.push_back("--plugin");
    command.push_back(plugin);
  }
  return command;
}

// Runs one to its end; says why if it fails.
std::string run_one(const SweepOptions& options, const SweepRun& run, int threads) {
  Process process(train_command(options, run, threads));
  std::string_view nothing;
  std::string received;
  bool told = false;
  while (process.exchange(nothing, received, std::chrono::milliseconds(500))) {
    if (!sweep_interrupted || told) continue;
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

std::string news_of(const SweepRun& run, bool before, const SweepJson& result) {
  if (!run.ending.empty()) return run.ending;
  if (before) return "was complete";
  if (!result.is_object()) return "interrupted";
  return fmt::format("accuracy {:.4f} in training, {}", result.value("accuracy", 0.0),
                     clock_text(result.value("seconds", 0.0)));
}

void run_all(const std::string& who, const SweepOptions& options, std::vector<SweepRun>& runs,
             int threads, std::size_t jobs) {
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (;;) {
      const std::size_t i = next++;
      if (i >= runs.size() || sweep_interrupted) return;
      const bool before = fs::exists(runs[i].directory + "/result.json");
      SweepJson result;
      try {
        // Hours may have passed since the first look.
        check_sweep_run(options, runs[i], threads);
        if (!before) runs[i].ending = run_one(options, runs[i], threads);
        result = read_run_result(runs[i].directory);
      } catch (const std::exception& error) {
        runs[i].ending = error.what();
      }
      const std::scoped_lock lock(mutex);
      ++done;
      const double gone =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      say("{}: {}/{} {}: {} ({} elapsed)", who, done, runs.size(), runs[i].directory,
          news_of(runs[i], before, result), clock_text(gone));
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < std::min(jobs, runs.size()); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
}

}  // namespace

void run_side_by_side(const std::string& who, const SweepOptions& options,
                      std::vector<SweepRun>& runs, int threads) {
  for (const SweepRun& run : runs) check_sweep_run(options, run, threads);
  fs::create_directories(options.run);
  const auto jobs = static_cast<std::size_t>(
      options.jobs > 0 ? options.jobs : std::max(1, default_thread_count() / std::max(1, threads)));
  say("{}: {} runs, {} at once, {} thread{} each", who, runs.size(), jobs, threads,
      threads == 1 ? "" : "s");
  handle_interrupts(on_sweep_signal);
  take_children_along();
  run_all(who, options, runs, threads, jobs);
  if (sweep_interrupted) fail("interrupted: run the same command to continue");
  // Nobody may have put other runs there meanwhile.
  for (const SweepRun& run : runs) check_sweep_run(options, run, threads);
}

}  // namespace shellgame
