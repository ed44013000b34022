// A model as evaluation sees it: ids to logits in plain arrays.
#pragma once

#include "shellgame/evaluate/evaluate.h"
#include "shellgame/evaluate/predictor.h"
#include "shellgame/models/model.h"

namespace shellgame {

class ModelPredictor final : public Predictor {
 public:
  // Both must outlive it. `taps`: what a probe changes on the way; null: nothing. With taps the
  // logits of all tokens are computed.
  explicit ModelPredictor(const Model& model, const Taps* taps = nullptr)
      : model_(model), taps_(taps) {}

  std::uint64_t vocabulary_size() const override;
  std::unique_ptr<Reading> begin(std::size_t rows) const override;
  bool may_be_copied() const override { return true; }
  std::int64_t growing_memory(std::uint64_t tokens) const override;
  std::uint64_t pass_memory(std::uint64_t rows, std::uint64_t tokens) const override;

 private:
  class ModelReading;
  const Model& model_;
  const Taps* taps_;
};

// evaluate() of a model.
Evaluation evaluate(const Model& model, const Source& source, std::uint64_t first,
                    std::uint64_t count, const EvaluationOptions& options = {},
                    const Taps* taps = nullptr);

}  // namespace shellgame
