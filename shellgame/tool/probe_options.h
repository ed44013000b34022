// The options of `shellgame probe`, as the tool resolves them for the side that has models.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/tool/learn_commands.h"

namespace shellgame {

struct ProbeOptions {
  std::string probe;  // a name of find_probe's table
  ModelPlace model;
  std::string tokenizer;  // empty: the model's own, else lexemes
  SharedData data;
  std::uint64_t count = 1, seed = 0;
  std::string format = "text", output = "-";
  // intervene
  std::string change = "scale", tap;
  std::int64_t layer = -1, head = -1;
  std::vector<double> amounts;
  // state, find-tracker
  std::uint64_t places = 12;
  // cycle
  std::vector<std::int64_t> cycles = {1, 4, 8, 16, 32, 64, 128, 256}, measured = {3, 64};
  std::vector<std::string> rounded = {"fp16", "bf16"};
  // a probe of a plug-in
  bool custom = false;
  nlohmann::json settings = nlohmann::json::object();
};

}  // namespace shellgame
