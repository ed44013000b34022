// The options of `shellgame evaluate`, as the tool resolves them for the side that has models.
#pragma once

#include <string>

#include "shellgame/evaluate/grid.h"
#include "shellgame/tool/learn_commands.h"

namespace shellgame {

struct EvaluateOptions {
  ModelPlace model;
  std::string tokenizer;  // empty: the model's own, else lexemes
  GridOptions grid;
};

}  // namespace shellgame
