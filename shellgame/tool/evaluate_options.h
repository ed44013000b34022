// The options of `shellgame evaluate`, as the tool resolves them for the side that has models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shellgame/evaluate/sequence_rows.h"
#include "shellgame/tasks/task.h"
#include "shellgame/tool/learn_commands.h"

namespace shellgame {

struct EvaluateOptions {
  ModelPlace model;
  std::string tokenizer;  // empty: the model's own, else lexemes

  // Traces: the task with each pair of commands and spacing.
  Task task;
  std::vector<std::uint64_t> commands, spacings;
  // Or sequences, by lengths.
  bool sequences = false;
  std::vector<SequenceSpec> lengths;

  std::uint64_t count = 64;
  std::vector<std::uint64_t> seeds = {0};
  std::string mode = "teacher", bayes = "auto", format = "text", output = "-";
  std::uint64_t show = 0, rows = 16, slice = 0, positions = 256;
  double confidence = 0.95;
  double most_memory_gib = 0;  // 0: four fifths of what the machine has free
};

}  // namespace shellgame
