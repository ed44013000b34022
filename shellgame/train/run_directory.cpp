#include "shellgame/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/train/environment.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

std::string record_of(const std::string& run) { return run + "/experiment.toml"; }

// What a killed process had not finished; nobody else writes here.
void remove_partial(const std::string& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".partial") found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove_all(path, ignored);
}

// Whether a path still leads to the file that was opened.
bool is_file(int descriptor, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// The environments of all starts of the run; of what cannot be read, none: its record is no reason
// to lose a run.
nlohmann::ordered_json environments_of(const std::string& run) {
  const std::string path = run + "/environment.json";
  if (!fs::is_regular_file(path)) return nlohmann::ordered_json::array();
  try {
    const nlohmann::ordered_json record = parse_ordered_json(read_file(path), path);
    return record.is_array() ? record : nlohmann::ordered_json::array({record});
  } catch (const Error&) {
    return nlohmann::ordered_json::array();
  }
}

}  // namespace

void RunDirectory::add_environment(const std::string& run) {
  nlohmann::ordered_json environments = environments_of(run);
  const nlohmann::ordered_json now = environment_record();
  if (!environments.empty()) differences_ = environment_differences(environments.back(), now);
  environments.push_back(now);
  write_record(run + "/environment.json", environments.dump(1) + "\n");
}

void check_run_directory(const std::string& run, const Experiment& experiment, bool resume) {
  if (!fs::exists(record_of(run))) return;
  if (!resume) {
    wrong_use(
        "'{}' already holds a run: use --resume to continue it, or another --run for a new one",
        run);
  }
  const nlohmann::ordered_json environments = environments_of(run);
  if (!environments.empty() && environments.back().is_object() &&
      environments.back().value("shellgame", "") == "0.1.0")
    fail(
        "'{}' was made by shellgame 0.1.0, which drew its batches in another way: this version "
        "cannot resume it",
        run);
  const std::string difference = experiment_difference(read_experiment(record_of(run)), experiment);
  if (!difference.empty())
    wrong_use("--resume must have the experiment that the run was started with; {}", difference);
}

RunDirectory::RunDirectory(const std::string& run, const Experiment& experiment, bool resume) {
  std::error_code error;
  fs::create_directories(run, error);
  if (error) fail("the directory '{}' cannot be made: {}", run, error.message());
  const std::string path = run + "/.lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) fail("'{}' cannot be written: {}", path, std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(lock_);
    if (reason == EWOULDBLOCK) fail("another process is training in '{}'", run);
    fail("'{}' cannot be locked: {}", path, std::strerror(reason));
  }
  try {
    if (!is_file(lock_, path))
      fail("'{}' was removed or replaced while this run started: start it again", run);
    check_run_directory(run, experiment, resume);
    for (const std::string& folder : {run, run + "/checkpoints"}) remove_partial(folder);
    if (!fs::exists(record_of(run))) write_record(record_of(run), experiment.toml());
    add_environment(run);
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

RunDirectory::~RunDirectory() { ::close(lock_); }

}  // namespace shellgame
