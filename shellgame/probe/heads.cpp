#include "shellgame/probe/heads.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "shellgame/models/finite.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kSlice = 1024;  // tokens at once

at::Tensor state_part(const at::Tensor& state, const Remembered& declared, int head) {
  return declared.heads == 1 ? state : state.select(1, head);
}

}  // namespace

std::vector<LayerHeads> heads_of(const Model& model) {
  const at::NoGradGuard no_gradients;
  // A model that gives no numbers is refused before anything is read from it.
  const at::Tensor ids = at::zeros({1, 2}, at::kLong).to(model.parameters().front().value.device());
  require_finite(model.logits(ids), "the model's logits");
  const std::vector<LayerSpec>& specs = model.config().spec().layers;
  std::vector<LayerHeads> layers(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    MixerDeclaration own = model.declaration(i);
    layers[i] = {.mixer = specs[i].mixer,
                 .heads = static_cast<int>(own.heads),
                 .state = own.has(Remembered::Kind::kState),
                 .beta = own.delta_steps,
                 .declaration = std::move(own)};
  }
  return layers;
}

std::vector<HeadPlace> heads_with(const std::vector<LayerHeads>& layers, bool LayerHeads::*has) {
  std::vector<HeadPlace> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (int head = 0; head < layers[i].heads && layers[i].*has; ++head) {
      places.push_back({static_cast<int>(i), head});
    }
  }
  return places;
}

at::Tensor head_part(const at::Tensor& tap, const std::string& name, int head, int heads) {
  if (heads == 1) return tap;
  if (name == "state") return tap.select(1, head);
  if (name == "gates" && tap.dim() == 5) return tap.select(3, head);
  if (tap.dim() >= 3 && tap.size(2) == heads) return tap.select(2, head);
  if (name == "output" && tap.dim() == 3 && tap.size(2) % heads == 0) {
    const std::int64_t width = tap.size(2) / heads;
    return tap.narrow(2, head * width, width);
  }
  wrong_use("the tap '{}' must be cut into {} heads to be changed head by head, but is [{}]", name,
            heads, fmt::join(tap.sizes(), ", "));
}

at::Tensor head_state(const LayerState& state, const MixerDeclaration& mixer, int head) {
  std::vector<at::Tensor> parts;
  for (const Remembered& one : mixer.remembers) {
    if (one.kind == Remembered::Kind::kState)
      parts.push_back(state_part(state.mixer.at(one.name), one, head).flatten(1));
  }
  return parts.empty() ? at::Tensor() : at::cat(parts, 1);
}

void move_head_state(LayerState& state, const MixerDeclaration& mixer, int head,
                     const at::Tensor& from) {
  for (const Remembered& one : mixer.remembers) {
    const bool inputs = one.kind == Remembered::Kind::kInputs;
    // Several heads may share the inputs of a convolution.
    if (one.kind != Remembered::Kind::kState && !(inputs && one.heads == mixer.heads)) continue;
    at::Tensor& tensor = state.mixer.at(one.name);
    tensor = tensor.contiguous().clone();
    const at::Tensor part =
        inputs ? tensor.unflatten(1, {one.steps, one.heads, tensor.size(1) / one.steps / one.heads})
                     .select(2, head)
               : state_part(tensor, one, head);
    part.copy_(part.index_select(0, from.to(part.device())));
  }
}

ModelState moved_state(const ModelState& state, const at::Tensor& from) {
  ModelState moved = state;
  for (LayerState& layer : moved.layers) {
    for (PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (auto& [name, tensor] : *part) {
        if (tensor.dim() > 0) tensor = tensor.index_select(0, from.to(tensor.device()));
      }
    }
  }
  return moved;
}

ModelState copied_state(const ModelState& state) {
  ModelState copy = state;
  for (LayerState& layer : copy.layers) {
    for (PartState* part : {&layer.mixer, &layer.channel_mixer}) {
      for (auto& [name, tensor] : *part) tensor = tensor.clone();
    }
  }
  return copy;
}

Recorded record(const Model& model, const WholeEpisode& trace,
                const std::vector<std::string>& names) {
  const at::NoGradGuard no_gradients;
  const auto device = model.parameters().front().value.device();
  std::vector<std::map<std::string, std::vector<at::Tensor>>> slices(
      model.config().spec().layers.size());
  const Taps taps{.wanted =
                      [&](const TapPoint& point) {
                        return std::ranges::find(names, point.name) != names.end();
                      },
                  .call =
                      [&](const TapPoint& point, const at::Tensor& x) {
                        slices[static_cast<std::size_t>(point.layer)][point.name].push_back(
                            x.select(0, 0).to(at::kCPU).to(at::kDouble));
                        return x;
                      }};
  ModelState state;
  for (std::size_t from = 0; from < trace.ids.size(); from += kSlice) {
    const std::size_t size = std::min(kSlice, trace.ids.size() - from);
    const at::Tensor ids =
        at::tensor(at::ArrayRef<std::int64_t>(trace.ids.data() + from, size), at::kLong);
    model.logits(ids.unsqueeze(0).to(device), &state, &taps);
  }
  Recorded recorded(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    for (const auto& [name, parts] : slices[i]) {
      recorded[i][name] = at::cat(parts, 0);
      require_finite(recorded[i][name],
                     fmt::format("what flows through the tap '{}' of layer {}", name, i));
    }
  }
  return recorded;
}

}  // namespace shellgame
