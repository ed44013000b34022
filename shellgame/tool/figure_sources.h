// What figures are made from, on the tool's side: published results, runs, small trainings, probes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shellgame/figures/sources.h"

namespace shellgame {

struct FigureSourceOptions {
  std::string out;                // small runs go to OUT/runs, the probes' answers to OUT/data
  std::vector<std::string> runs;  // directories with finished runs
  std::string results;            // published tables; empty: none
  bool may_train = true;
};

class ToolFigureSources : public FigureSources {
 public:
  explicit ToolFigureSources(FigureSourceOptions options) : options_(std::move(options)) {}

  const std::vector<Measured>& found() override;
  std::vector<Measured> trained(SmallExperiment experiment) override;
  std::vector<TableRecord> records(const std::string& file) override;
  std::optional<Verdict> verdict() override;
  nlohmann::ordered_json probe(const std::string& run, const std::string& name) override;

 private:
  FigureSourceOptions options_;
  bool searched_ = false;
  std::vector<Measured> found_;
  std::map<SmallExperiment, std::vector<Measured>> trained_;
  std::map<std::pair<std::string, std::string>, nlohmann::ordered_json> probed_;
};

}  // namespace shellgame
