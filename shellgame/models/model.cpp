#include "shellgame/models/model.h"

#include <ATen/Functions.h>

#include <algorithm>

#include "shellgame/ops/embedding.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {

Model::Model(ModelConfig config, InitOptions init) : config_(std::move(config)) {
  // What does not fit is refused before anything is made: the system may promise memory that it
  // does not have, and the first layers of a large model would be drawn for a minute.
  make({.kind = InitKind::kCounted});
  std::uint64_t numbers = 0;
  for (const Parameter& parameter : parameters_)
    numbers = saturating_add(numbers, static_cast<std::uint64_t>(parameter.value.numel()));
  constexpr std::uint64_t kAlwaysThere = 1 << 24;
  if (numbers > kAlwaysThere)
    require_memory(saturating_multiply<std::uint64_t>(numbers, sizeof(float)),
                   fmt::format("a model of {} parameters", numbers));
  parameters_.clear();
  blocks_.clear();
  make(init);
}

void Model::make(const InitOptions& init) {
  const ModelSpec& spec = config_.spec();
  const Weights all(parameters_, init, spec.initializer_range);
  const Weights root = all.inside(spec.names.root);
  embeddings_ = root.embedding(spec.names.embeddings, spec.vocabulary, spec.width);
  for (int layer = 0; layer < static_cast<int>(spec.layers.size()); ++layer) {
    blocks_.emplace_back(spec, layer, root.inside(fmt::format("layers.{}", layer)));
  }
  final_norm_ =
      make_norm(root, spec.names.final_norm, spec.norm, spec.width, spec.norm_eps, spec.norm_bias);
  head_ = spec.tied ? embeddings_ : all.linear(spec.names.head, spec.vocabulary, spec.width);
}

at::Tensor Model::hidden(const at::Tensor& ids, ModelState* state, const Taps* taps) const {
  if (ids.dim() != 2 || ids.scalar_type() != at::kLong) {
    wrong_use("token ids must be a matrix [sequence, token] of 64-bit integers");
  }
  if (ids.numel() > 0) {
    const std::int64_t least = ids.min().item<std::int64_t>();
    const std::int64_t most = ids.max().item<std::int64_t>();
    if (least < 0 || most >= config_.spec().vocabulary) {
      wrong_use("a token id must be from 0 to {}, not {}", config_.spec().vocabulary - 1,
                least < 0 ? least : most);
    }
  }
  Pass pass(taps);
  if (state != nullptr) {
    state->layers.resize(blocks_.size());
    state->tokens += ids.size(1);
  }
  at::Tensor x = embedding_rows(embeddings_, ids);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    pass.enter(static_cast<int>(i));
    x = blocks_[i].forward(x, state != nullptr ? &state->layers[i] : nullptr, pass);
  }
  return x;
}

at::Tensor Model::logits(const at::Tensor& ids, ModelState* state, const Taps* taps) const {
  return at::linear(final_norm_(hidden(ids, state, taps)), head_);
}

at::Tensor Model::logits_at(const at::Tensor& ids, const at::Tensor& places,
                            ModelState* state) const {
  const at::Tensor x = hidden(ids, state, nullptr).flatten(0, 1);
  return at::linear(final_norm_(x.index_select(0, places)), head_);
}

at::Tensor Model::step(const at::Tensor& tokens, ModelState& state) const {
  return logits(tokens.unsqueeze(1), &state).squeeze(1);
}

Loss Model::loss(const at::Tensor& ids, const LossTargets& targets, ModelState* state,
                 const Taps* taps, const LossFunction& function) const {
  if (targets.hard.sizes() != ids.sizes())
    wrong_use("targets must have the shape of the token ids");
  const at::Tensor x = hidden(ids, state, taps).flatten(0, 1);
  return function(LossHead(x, final_norm_, head_, config_.spec().l2_warp), targets);
}

const Parameter& Model::parameter(const std::string& name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  if (found == parameters_.end()) wrong_use("the model has no parameter '{}'", name);
  return *found;
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters_) count += parameter.value.numel();
  return count;
}

void Model::to(at::ScalarType type) {
  for (Parameter& parameter : parameters_) {
    parameter.value.set_data(parameter.value.data().to(type));
  }
}

void Model::to(at::Device device) {
  for (Parameter& parameter : parameters_) {
    parameter.value.set_data(parameter.value.data().to(device));
  }
}

bool Model::constant_memory() const {
  return std::ranges::all_of(
      blocks_, [](const Block& block) { return block.mixer().declaration().constant_memory(); });
}

}  // namespace shellgame
