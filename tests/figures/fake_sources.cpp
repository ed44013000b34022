#include "tests/figures/fake_sources.h"

#include <fmt/format.h>

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Measured made_up(const std::string& experiment, const std::string& label, int seeds, double level) {
  Measured one;
  one.experiment = experiment;
  one.label = label;
  one.group = "S5";
  one.moves = "permutations";
  one.trained = {64, 8};
  one.spacings = {8};
  one.stream = 2048;
  one.parameters = 107904;
  one.from = "experiments/made-up/results.json";
  for (int seed = 0; seed < seeds; ++seed) {
    one.seeds.push_back(static_cast<std::uint64_t>(seed));
    for (const std::uint64_t commands : {64, 128, 256, 16384}) {
      for (const std::uint64_t spacing : {8, 16, 32}) {
        MeasuredCell& cell = one.cells[{commands, spacing}];
        const double accuracy = level - 0.01 * seed - 0.001 * static_cast<double>(spacing);
        cell.accuracy.push_back(accuracy);
        cell.final_accuracy.push_back(accuracy - 0.01);
        cell.by_position.emplace_back(std::min<std::uint64_t>(commands / spacing, 64), accuracy);
      }
    }
  }
  return one;
}

}  // namespace

FakeSources::FakeSources(int layers, int heads, int seeds) : layers_(layers), heads_(heads) {
  found_ = {made_up("architectures", "DeltaNet [-1,1]", seeds, 0.99),
            made_up("architectures", "DeltaNet [0,1]", seeds, 0.4),
            made_up("architectures", "Transformer", seeds, 0.3)};
}

void FakeSources::add_of_all_spacings() {
  found_.push_back(made_up("spacing", "Transformer", 2, 0.8));
  found_.back().trained.second = 16;
  found_.back().spacings = {8, 16};
}

std::vector<Measured> FakeSources::trained(SmallExperiment experiment) {
  ++trainings;
  std::vector<Measured> runs;
  if (experiment == SmallExperiment::kSpacing) {
    for (const char* moves : {"swaps", "permutations"}) {
      for (const std::uint64_t spacing : {8, 16, 32}) {
        runs.push_back(made_up("figures-spacing", "Transformer", 2, 0.9));
        runs.back().moves = moves;
        runs.back().trained.second = spacing;
        runs.back().spacings = {spacing};
      }
    }
    return runs;
  }
  runs = {found_[0]};
  for (const std::uint64_t seed : found_[0].seeds)
    runs[0].directories.push_back(fmt::format("runs/seed-{}", seed));
  return runs;
}

std::vector<TableRecord> FakeSources::records(const std::string& file) {
  std::vector<TableRecord> all;
  const auto add = [&](Json record) {
    all.push_back({.parts = {std::make_shared<const Json>(std::move(record))}});
  };
  const auto numbers = [](double x, double cycles) {
    return Json{{"N", cycles},           {"cycles", cycles},
                {"commands", 32 * x},    {"spacing", 1},
                {"ending", "c"},         {"miss", 0.2 * x},
                {"regret", 0.01 * x},    {"task.probability", 0.25 * x},
                {"norm", 3 + x},         {"twins", 1 / x},
                {"miss_fp16", 0.21 * x}, {"miss_bf16", 0.22 * x}};
  };
  if (file == "bounds-uniform.json") {
    for (const char* bound : {"window of 5 commands", "uniform"})
      add({{"arm", bound}, {"commands", 32}, {"regret", bound[0] == 'u' ? 0.3 : 0.002}});
    return all;
  }
  for (const char* arm : {"DN2", "DN1", "LSTM1", "LSTM2", "GRU1"}) {
    for (std::size_t seed = 0; seed < found_[0].seeds.size(); ++seed) {
      for (const char* schedule : {"Z", "D", "M5", "M1"}) {
        for (int i = 0; i < 4; ++i) {
          Json record = numbers(i + 1 + 0.1 * static_cast<double>(seed), 1 << (3 * i));
          record.update({{"arm", arm}, {"seed", seed}, {"schedule", schedule}});
          add(record);
        }
      }
    }
  }
  return all;
}

std::optional<Verdict> FakeSources::verdict() {
  Verdict verdict;
  verdict.words = "supported in U alone: absent once it is trained on, coverage";
  if (found_[0].seeds.size() > 1) return verdict;
  return {};
}

Json FakeSources::probe(const std::string&, const std::string& name) {
  const int tracker = layers_ - 1;
  Json layers = Json::array(), heads = Json::array();
  for (int layer = 0; layer < layers_; ++layer) {
    const Json betas = {{"min", 0.0}, {"q05", 0.1}, {"q25", 0.4}, {"median", 0.7},
                        {"q75", 1.1}, {"q95", 1.9}, {"max", 2.0}};
    layers.push_back({{"layer", layer}});
    layers.back().update(betas);
    for (int head = 0; head < heads_; ++head) {
      Json row = {{"layer", layer}, {"head", head}};
      row.update(betas);
      for (int i = 1; i <= 32; ++i) row["explained"].push_back(i / (i + 0.2 * head + 1));
      if (name != "intervene") {
        heads.push_back(row);
        continue;
      }
      for (const double amount : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}) {
        row["amount"] = amount;
        row["accuracy"] = layer == tracker && head == 0 ? 2 * amount - 1 : 1 - 0.01 * head;
        heads.push_back(row);
      }
    }
  }
  return {{"commands", 512},  {"spacing", 4},   {"chance", 0.2},
          {"layers", layers}, {"heads", heads}, {"tracker", {{"layer", tracker}, {"head", 0}}}};
}

}  // namespace shellgame
