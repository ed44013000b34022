#include "shellgame/models/model_predictor.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "shellgame/system/saturating.h"
#include "shellgame/text/number.h"

namespace shellgame {
namespace {

// Nothing of the copy is changed by who goes on with the original.
ModelState copy_of(const ModelState& state) {
  ModelState copy = state;
  for (LayerState& layer : copy.layers) {
    for (PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (auto& [name, tensor] : *part) {
        if (tensor.defined()) tensor = tensor.clone();
      }
    }
  }
  return copy;
}

}  // namespace

class ModelPredictor::ModelReading final : public Reading {
 public:
  ModelReading(const Model& model, const Taps* taps, std::size_t rows)
      : model_(model), taps_(taps), rows_(static_cast<std::int64_t>(rows)) {}

  void read(std::span<const std::int64_t> ids, std::span<const TokenPlace> places,
            std::vector<double>& logits) override {
    const at::NoGradGuard no_gradients;
    const at::Device device = model_.parameters().front().value.device();
    const auto length = static_cast<std::int64_t>(ids.size()) / rows_;
    const at::Tensor tokens = at::empty({rows_, length}, at::kLong);
    std::ranges::copy(ids, tokens.data_ptr<std::int64_t>());
    const at::Tensor flat = at::empty({static_cast<std::int64_t>(places.size())}, at::kLong);
    for (std::size_t i = 0; i < places.size(); ++i)
      flat.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(places[i].row) * length +
                                         static_cast<std::int64_t>(places[i].token);
    const at::Tensor here = taps_ == nullptr
                                ? model_.logits_at(tokens.to(device), flat.to(device), &state_)
                                : model_.logits(tokens.to(device), &state_, taps_)
                                      .flatten(0, 1)
                                      .index_select(0, flat.to(device));
    logits.resize(static_cast<std::size_t>(here.numel()));
    at::from_blob(logits.data(), here.sizes(), at::kDouble).copy_(here);
  }

  std::unique_ptr<Reading> copy() const override {
    auto other = std::make_unique<ModelReading>(model_, taps_, static_cast<std::size_t>(rows_));
    other->state_ = copy_of(state_);
    return other;
  }

 private:
  const Model& model_;
  const Taps* taps_;
  std::int64_t rows_;
  ModelState state_;
};

std::uint64_t ModelPredictor::vocabulary_size() const {
  return static_cast<std::uint64_t>(model_.config().spec().vocabulary);
}

std::unique_ptr<Reading> ModelPredictor::begin(std::size_t rows) const {
  return std::make_unique<ModelReading>(model_, taps_, rows);
}

// The stream, and what a layer makes of it, half a dozen times as wide.
std::uint64_t ModelPredictor::pass_memory(std::uint64_t rows, std::uint64_t tokens) const {
  const auto width = static_cast<std::uint64_t>(model_.config().spec().width);
  const auto size = static_cast<std::uint64_t>(model_.parameters().front().value.element_size());
  return saturating_multiply(rows, tokens, 8 * width * size);
}

std::int64_t ModelPredictor::growing_memory(std::uint64_t tokens) const {
  if (model_.constant_memory()) return 0;
  const at::NoGradGuard no_gradients;
  const auto device = model_.parameters().front().value.device();
  const auto bytes_at = [&](std::int64_t count) {
    ModelState state;
    model_.logits_at(at::zeros({1, count}, at::kLong).to(device),
                     at::empty({0}, at::kLong).to(device), &state);
    return state.bytes();
  };
  const std::int64_t token = (bytes_at(32) - bytes_at(16)) / 16;
  // Beside what is remembered, a layer makes copies of its keys and values, and attention holds the
  // scores of a block of 256 queries of all heads, masked and as softmax. The factors are from
  // measured peaks, which they pass by a fifth.
  std::int64_t heads = 0;
  for (std::size_t i = 0; i < model_.layers(); ++i) {
    const MixerDeclaration mixer = model_.declaration(i);
    if (mixer.has(Remembered::Kind::kTokens)) heads = std::max(heads, mixer.heads);
  }
  const auto width = static_cast<std::int64_t>(model_.parameters().front().value.element_size());
  return saturating_multiply(static_cast<std::int64_t>(std::min(tokens, kMostSigned)),
                             4 * token + 5 * heads * 256 * width);
}

Evaluation evaluate(const Model& model, const Source& source, std::uint64_t first,
                    std::uint64_t count, const EvaluationOptions& options, const Taps* taps) {
  return evaluate(ModelPredictor(model, taps), source, first, count, options);
}

}  // namespace shellgame
