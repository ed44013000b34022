#include "shellgame/train/segment_gradient.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <vector>

#include "shellgame/system/saturating.h"

namespace shellgame {
namespace {

constexpr std::int64_t kChunk = 64;

// The tensors of a state through which gradients flow, always in the same order.
std::vector<at::Tensor> flowing(const ModelState& state) {
  std::vector<at::Tensor> tensors;
  for (const LayerState& layer : state.layers) {
    for (const PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (const auto& [name, tensor] : *part) {
        if (tensor.defined() && tensor.is_floating_point()) tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

SegmentLoss whole(const Model& model, const at::Tensor& ids, const LossTargets& targets,
                  double scale, ModelState* state, const LossFunction& function) {
  const Loss loss = model.loss(ids, targets, state, nullptr, function);
  const auto mean = loss.mean.item<double>();
  if (std::isfinite(mean)) (scale == 1 ? loss.mean : loss.mean * scale).backward();
  if (state != nullptr) *state = state->detached();
  return {.mean = mean, .correct = loss.correct};
}

}  // namespace

std::int64_t piece_tokens(std::int64_t T, std::int64_t pieces) {
  if (pieces <= 1) return T;
  const std::int64_t least = T / pieces + (T % pieces != 0 ? 1 : 0);
  const std::int64_t chunks = least / kChunk + (least % kChunk != 0 ? 1 : 0);
  return std::min(T, saturating_multiply(chunks, kChunk));
}

SegmentLoss add_segment_gradient(const Model& model, const at::Tensor& ids,
                                 const LossTargets& targets, std::int64_t pieces, double scale,
                                 ModelState* state, const LossFunction& function) {
  const std::int64_t T = ids.size(1), size = piece_tokens(T, pieces);
  if (size >= T) return whole(model, ids, targets, scale, state, function);
  const auto counted = static_cast<double>(targets.counted());

  // 1. Forward, keeping only the state before each piece.
  std::vector<ModelState> before{state != nullptr ? *state : ModelState()};
  {
    const at::NoGradGuard no_gradients;
    const at::Tensor nowhere = at::empty({0}, ids.options());
    for (std::int64_t from = 0; from + size < T; from += size) {
      ModelState next = before.back();
      model.logits_at(ids.narrow(1, from, size), nowhere, &next);
      before.push_back(std::move(next));
    }
  }

  // 2. Backward from the last piece to the first: each is run again from its state, and what the
  // later pieces want of the state at its end is added to its own loss.
  SegmentLoss result;
  std::vector<at::Tensor> correct(before.size());
  std::vector<at::Tensor> wanted;
  for (std::size_t i = before.size(); i-- > 0;) {
    const std::int64_t from = static_cast<std::int64_t>(i) * size;
    const std::int64_t length = std::min(size, T - from);
    ModelState now = before[i].detached();
    const std::vector<at::Tensor> begin = flowing(now);
    if (i > 0) {
      for (const at::Tensor& tensor : begin) tensor.requires_grad_(true);
    }
    const Loss loss = model.loss(ids.narrow(1, from, length), targets.narrow(from, length), &now,
                                 nullptr, function);
    const double share = counted > 0 ? static_cast<double>(loss.counted) / counted : 0;
    result.mean += share * loss.mean.item<double>();
    correct[i] = loss.correct;
    if (i + 1 == before.size() && state != nullptr) *state = now.detached();
    if (!std::isfinite(result.mean)) break;
    std::vector<at::Tensor> roots, gradients;
    if (share > 0) {
      roots.push_back(loss.mean);
      gradients.push_back(at::full_like(loss.mean, scale * share));
    }
    const std::vector<at::Tensor> end = flowing(now);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k].defined() || !end[k].requires_grad()) continue;
      roots.push_back(end[k]);
      gradients.push_back(wanted[k]);
    }
    wanted.clear();
    if (roots.empty()) continue;
    torch::autograd::backward(roots, gradients);
    if (i > 0) {
      for (const at::Tensor& tensor : begin) wanted.push_back(tensor.grad());
    }
  }
  if (std::isfinite(result.mean)) result.correct = at::cat(correct, 1);
  return result;
}

}  // namespace shellgame
