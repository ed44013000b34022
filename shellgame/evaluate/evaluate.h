// Runs a predictor over rows and judges every question. Rows go side by side, in slices of equal
// length, and what is remembered is passed on: for recurrent models the memory does not grow with
// the length of a row. No Torch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "shellgame/episodes/source.h"
#include "shellgame/evaluate/predictor.h"
#include "shellgame/evaluate/tally.h"

namespace shellgame {

enum class EvaluationMode {
  kTeacher,  // every reveal stands in the row as it was
  kFree,     // the model's own choice stands in its place: errors stay in what it reads
};

struct EvaluationOptions {
  EvaluationMode mode = EvaluationMode::kTeacher;
  std::size_t rows = 16;  // at most so many side by side
  std::size_t slice = 0;  // tokens of each at once; 0: 512, and more for fewer rows
  std::size_t show = 0;   // keep every answer of the first so many rows
  // Bytes that a predictor may need whose memory grows with the row (0: no limit). Fewer rows go
  // side by side where that helps; else Error.
  std::int64_t most_memory = 0;
  std::function<void(std::uint64_t tokens)> progress = {};
};

// One reveal of a row that is shown.
struct ShownReveal {
  std::uint64_t command = 0;
  std::uint32_t variable = 0, value = 0;
  std::optional<std::uint32_t> chosen = {};  // none: a beginning of several values, and a wrong one
  double probability = 0;                    // of the true value, among the values
  std::optional<std::uint32_t> bayes = {};   // the most probable value
  double bayes_probability = 0;
};

struct Evaluation {
  Tally tally{0};
  std::vector<std::vector<ShownReveal>> shown;  // by row
  std::uint64_t tokens = 0;                     // read by the model, without padding
  double seconds = 0;
};

// Rows first, ..., first + count - 1. The answer at a reveal is found by greedy descent in its
// ValueTree. Throws UsageError if the predictor's vocabulary is too small, Error if a logit is not
// a number.
Evaluation evaluate(const Predictor& predictor, const Source& source, std::uint64_t first,
                    std::uint64_t count, const EvaluationOptions& options = {});

// The same of several sources whose rows begin alike (row i of one as row i of the others), such as
// the cells of a schedule: what is shared is read once, and each goes on with a copy of what the
// predictor remembers there. The results are those of evaluate() but for rounding, and for tokens
// and seconds: what is shared counts for the source that parts first. Costs the longest row, and of
// each other one what is its own; holds the rows of all sources that go side by side, whole. Where
// the predictor cannot be copied, runs freely, or two readings do not fit, each is read alone.
std::vector<Evaluation> evaluate_together(const Predictor& predictor,
                                          const std::vector<const Source*>& sources,
                                          std::uint64_t first, std::uint64_t count,
                                          const EvaluationOptions& options = {});

}  // namespace shellgame
