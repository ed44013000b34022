// The options of `shellgame evaluate`, as the tool resolves them for the side that has models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/tool/learn_commands.h"

namespace shellgame {

struct EvaluateOptions {
  ModelPlace model;
  std::string tokenizer;  // empty: the model's own, else lexemes

  std::vector<SharedData> points;  // one a cell
  std::vector<std::string> notes;  // what was left out of them

  std::uint64_t count = 64;
  std::vector<std::uint64_t> seeds = {0};
  std::string mode = "teacher", bayes = "auto", format = "text", output = "-";
  std::uint64_t show = 0, rows = 16, slice = 0, positions = 256;
  double confidence = 0.95;
  double most_memory_gib = 0;  // 0: four fifths of what the machine has free
};

}  // namespace shellgame
