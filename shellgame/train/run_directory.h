// A run's directory before the first step: it is new, or it has the same experiment and is to be
// gone on with. One process at a time works in it.
#pragma once

#include <string>
#include <vector>

#include "shellgame/train/experiment.h"

namespace shellgame {

// Throws UsageError if there is a run already and `resume` is not said, or if that run was started
// with another experiment. Writes nothing: what cannot start leaves no directory behind.
void check_run_directory(const std::string& run, const Experiment& experiment, bool resume);

// The directory, with experiment.toml and environment.json, held until the end of its life: the
// lock goes with the process, however that ends.
class RunDirectory {
 public:
  // Throws Error if it cannot be made, or if another process holds it; and, as check_run_directory
  // does, for what is there once it is held: somebody may have come in between.
  RunDirectory(const std::string& run, const Experiment& experiment, bool resume);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  // What differs from the start before this one, and may make its numbers others.
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  void add_environment(const std::string& run);
  int lock_ = -1;
  std::vector<std::string> differences_;
};

}  // namespace shellgame
