// Runs that differ in nothing but the seed belong together: a group is one column of a table and
// one curve of a chart, the mean over its seeds.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "shellgame/report/run_record.h"

namespace shellgame {

struct RunGroup {
  std::string name;  // what tells it from the other groups, in few words
  std::vector<const RunRecord*> runs;
  bool alone = false;  // there is no other group
};

// In the order of the runs, which must outlive the groups.
std::vector<RunGroup> groups_of(const std::vector<RunRecord>& runs);

// Keys of experiment.toml that have not the same value in all runs (or are missing in some).
std::set<std::string> differing_keys(const std::vector<RunRecord>& runs);

// A path with "seed-{seed}" for the run's own "seed-3": what runs of a sweep start from (`from`)
// differs with their seeds.
std::string without_seed(std::string path, const std::string& seed);

// What a run is called among others: its group's name if there are several groups, and its seed if
// the group has several runs.
std::string run_name(const RunGroup& group, const RunRecord& run);

struct RunSpread {
  double mean = 0, deviation = 0;  // sample standard deviation; 0 for one value
  double least = 0, most = 0;
  std::size_t count = 0;
};
// Of the values that are finite.
RunSpread run_spread(const std::vector<double>& values);

}  // namespace shellgame
