// A run's directory as `shellgame train` leaves it, small enough to know every number of.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "shellgame/system/files.h"

namespace shellgame {

struct SmallRun {
  std::string name = "small", arm = "A", more = "";
  int seed = 0, steps = 6;
  bool complete = true;
  double accuracy = 0.8125;
};

inline nlohmann::ordered_json small_cell(int commands, double accuracy) {
  return {{"commands", commands},
          {"spacing", 2},
          {"accuracy", accuracy},
          {"final_accuracy", accuracy / 2},
          {"cross_entropy", 0.12345678},
          {"first_failure_mean", 7.0625},
          {"first_failure_median", nullptr},
          {"chance", 0.2},
          {"bounds", {{"accuracy", {0.71234, 0.91234}}}},
          {"traces", 1234},
          {"task", "S5 permutations"},
          {"seeds", {{{"seed", 0}, {"accuracy", 0.80001}}, {{"seed", 1}, {"accuracy", 0.82499}}}},
          {"positions",
           {{{"first", 1},
             {"last", 1},
             {"command", 2.0},
             {"accuracy", 0.9375},
             {"whole_prefix_accuracy", 0.9375}},
            {{"first", 2},
             {"last", 2},
             {"command", 4.0},
             {"accuracy", 0.6875},
             {"whole_prefix_accuracy", 0.5625}}}}};
}

inline void write_small_run(const std::string& directory, const SmallRun& run) {
  std::filesystem::create_directories(directory + "/checkpoints/step-00000004");
  write_file(
      directory + "/experiment.toml",
      fmt::format("name = '{}'\narm = '{}'\nseed = {}\n{}\n[task]\ngroup = 'S5'\n\n[[stages]]\n"
                  "commands = [ 2, 4 ]\n\n[[stages]]\ncommands = [ 8 ]\n",
                  run.name, run.arm, run.seed, run.more));
  write_file(directory + "/environment.json",
             R"({"started": "2026-01-02T03:04:05Z", "processor": "a processor", "cores": 2,
                 "command": "shellgame train small.toml --run DIR"})");
  std::string lines;
  for (int step = 1; step <= run.steps; ++step) {
    lines += nlohmann::ordered_json{{"step", step},
                                    {"stage", step <= 3 ? 0 : 1},
                                    {"loss", 4.0 / step},
                                    {"accuracy", 0.1 * step},
                                    {"learning_rate", 0.001},
                                    {"tokens", 100 * step},
                                    {"tokens_per_second", 5000}}
                 .dump() +
             "\n";
  }
  write_file(directory + "/metrics.jsonl", lines);
  if (!run.complete) return;
  write_file(directory + "/result.json", nlohmann::ordered_json{{"steps", run.steps},
                                                                {"tokens", 100 * run.steps},
                                                                {"seconds", 12.34567},
                                                                {"accuracy", 0.59},
                                                                {"parameters", 107904}}
                                             .dump());
  write_file(
      directory + "/evaluation.json",
      nlohmann::ordered_json{small_cell(4, run.accuracy), small_cell(8, run.accuracy / 2)}.dump());
}

}  // namespace shellgame
