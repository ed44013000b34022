// Exact models: weights written down from theory, not trained. They read the lexeme tokens of the
// trace language and follow the state of S_n without an error at any length, so they are ground
// truth for probes and for extrapolation in each precision. docs/exact-models.md explains them
// head by head. No Torch: a model is a configuration and a list of named numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/tensors/shape.h"

namespace shellgame {

enum class ExactKind {
  kTracking,  // a certain state: DeltaNet, as flash-linear-attention has it
  kMarginal,  // a belief: the paper's matrix H of (variable, value), on the two-sided mixer
  // DeltaNet again, two statements about linear recurrences under uncertainty:
  kConserving,  // one head that keeps a certainty through maybe-swaps and reveals for ever
  kLog,         // the exact belief of an unknown start, as logarithms of its orders' chances
};
enum class ExactMoves {
  kSwaps,         // one reflection a swap, at its `=`
  kPermutations,  // full permutations and swaps, through n slots that hold values for a moment
};
enum class ExactRepresentation {
  kPermutation,  // a key direction for each variable
  kStandard,     // n - 1 directions: the corners of a simplex (swaps only)
};

struct ExactOptions {
  int variables = 5;
  ExactKind kind = ExactKind::kTracking;
  ExactMoves moves = ExactMoves::kPermutations;
  ExactRepresentation representation = ExactRepresentation::kPermutation;
  bool silu = false;         // qk_activation silu instead of identity
  double probability = 0.5;  // marginal: of the move in `if random() < p: ...`
};

struct ExactTensor {
  std::string name;
  Shape shape;
  std::vector<double> values;  // row-major
};

struct ExactModel {
  nlohmann::ordered_json config;     // config.json
  std::vector<ExactTensor> tensors;  // by the names of the checkpoint
};

inline constexpr int kMostExactVariables = 16;  // values beyond have no lexeme
inline constexpr int kMostLogVariables = 3;     // 6 orders

// Throws UsageError for what no exact model can do.
ExactModel exact_model(const ExactOptions& options);

// config.json, model.safetensors (F32) and the lexeme vocabulary's tokenizer files, in a directory
// that is made if need be.
// `task`: the text of its task.json, or none.
void write_exact_model(const ExactModel& model, const std::string& directory,
                       const std::string& task = {});

}  // namespace shellgame
