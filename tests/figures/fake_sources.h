// Sources of figures that need no models: made-up results of three architectures and answers of
// probes, in the forms that the real ones have.
#pragma once

#include "shellgame/figures/sources.h"

namespace shellgame {

class FakeSources : public FigureSources {
 public:
  // Models of `layers` layers with `heads` heads, `seeds` of them.
  FakeSources(int layers, int heads, int seeds);

  const std::vector<Measured>& found() override { return found_; }
  std::vector<Measured> trained(SmallExperiment experiment) override;
  std::vector<TableRecord> records(const std::string& file) override;
  std::optional<Verdict> verdict() override;
  nlohmann::ordered_json probe(const std::string& run, const std::string& name) override;

  // A Transformer that was trained with two spacings at once, two seeds.
  void add_of_all_spacings();

  int trainings = 0;

 private:
  int layers_, heads_;
  std::vector<Measured> found_;
};

}  // namespace shellgame
