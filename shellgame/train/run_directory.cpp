#include "shellgame/train/run_directory.h"

#include <fmt/format.h>

#include <filesystem>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/train/environment.h"

namespace shellgame {
namespace {

std::string first_difference(const nlohmann::json& stored, const nlohmann::json& given) {
  for (const nlohmann::json& change : nlohmann::json::diff(stored, given)) {
    return fmt::format("it differs at {}: {}", change.at("path").get<std::string>(),
                       change.contains("value") ? change["value"].dump() : "missing");
  }
  return "it differs";
}

}  // namespace

void prepare_run_directory(const std::string& run, const Experiment& experiment, bool resume) {
  namespace fs = std::filesystem;
  const std::string record = run + "/experiment.toml";
  const bool there = fs::exists(record);
  if (there && !resume) {
    wrong_use("'{}' has a run already: --resume goes on with it, another --run begins a new one",
              run);
  }
  if (there) {
    const Experiment stored = read_experiment(record);
    if (stored.resolved != experiment.resolved)
      wrong_use("--resume must have the experiment that the run was started with; {}",
                first_difference(stored.resolved, experiment.resolved));
  }
  std::error_code error;
  fs::create_directories(run, error);
  if (error) fail("the directory '{}' cannot be made: {}", run, error.message());
  if (!there) write_file(record, experiment.toml());
  write_file(run + "/environment.json", environment_record().dump(1) + "\n");
}

}  // namespace shellgame
