#include "shellgame/probe/heads.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/models/finite.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kSlice = 1024;  // tokens at once

// Names under which mixers remember what is cut into heads: [B, H, ...] (LSTM and GRU: [B, D]).
const std::vector<std::string> kStates = {"recurrent", "h", "c", "n", "m"};

bool remembers(const PartState& state) {
  return std::ranges::any_of(kStates,
                             [&](const std::string& name) { return state.contains(name); });
}

at::Tensor state_part(const at::Tensor& state, int head) {
  return state.dim() == 2 ? state : state.select(1, head);
}

// The last inputs of a short convolution [B, C, W], of which a head has the channels
// [n, H, width] of each step; undefined where several heads share theirs.
at::Tensor convolved_part(const at::Tensor& inputs, const at::Tensor& recurrent, std::int64_t width,
                          int head) {
  const std::int64_t heads = recurrent.size(1);
  if (inputs.size(1) % (heads * width) != 0) return {};
  return inputs.unflatten(1, {inputs.size(1) / (heads * width), heads, width}).select(2, head);
}

}  // namespace

std::vector<LayerHeads> heads_of(const Model& model) {
  const at::NoGradGuard no_gradients;
  const std::vector<LayerSpec>& specs = model.config().spec().layers;
  std::vector<LayerHeads> layers(specs.size());
  // Mixtures of permutations have a beta that only writes.
  const auto reflects = [&](int layer) {
    const Options& options = specs[static_cast<std::size_t>(layer)].options;
    return options.word_or("mixture", "householder") == "householder";
  };
  const Taps taps{
      .wanted =
          [](const TapPoint& point) { return point.name == "output" || point.name == "beta"; },
      .call =
          [&](const TapPoint& point, const at::Tensor& x) {
            LayerHeads& layer = layers[static_cast<std::size_t>(point.layer)];
            if (point.name == "beta") layer.beta = x.dim() == 3 && reflects(point.layer);
            if (point.name == "output" && x.dim() == 4) layer.heads = static_cast<int>(x.size(2));
            return x;
          }};
  ModelState state;
  const at::Tensor ids = at::zeros({1, 2}, at::kLong).to(model.parameters().front().value.device());
  require_finite(model.logits(ids, &state, &taps), "the model's logits");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    layers[i].mixer = specs[i].mixer;
    layers[i].state = remembers(state.layers[i].mixer);
    if (specs[i].mixer == "slstm") {
      layers[i].heads = static_cast<int>(specs[i].options.size("num_heads"));
    }
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

at::Tensor head_state(const LayerState& state, int head) {
  std::vector<at::Tensor> parts;
  for (const std::string& name : kStates) {
    const auto found = state.mixer.find(name);
    if (found != state.mixer.end()) parts.push_back(state_part(found->second, head).flatten(1));
  }
  return parts.empty() ? at::Tensor() : at::cat(parts, 1);
}

void move_head_state(LayerState& state, int head, const at::Tensor& from) {
  for (const std::string& name : kStates) {
    const auto found = state.mixer.find(name);
    if (found == state.mixer.end()) continue;
    const at::Tensor other =
        state_part(found->second, head).index_select(0, from.to(found->second.device()));
    found->second = found->second.clone();
    state_part(found->second, head).copy_(other);
  }
  const auto recurrent = state.mixer.find("recurrent");
  if (recurrent == state.mixer.end() || recurrent->second.dim() != 4) return;
  for (const char* name : {"conv_q", "conv_k", "conv_v"}) {
    const auto found = state.mixer.find(name);
    if (found == state.mixer.end() || !found->second.defined()) continue;
    const std::int64_t width = recurrent->second.size(name == std::string_view("conv_v") ? 3 : 2);
    at::Tensor moved = found->second.contiguous().clone();
    const at::Tensor part = convolved_part(moved, recurrent->second, width, head);
    if (!part.defined()) continue;
    part.copy_(part.index_select(0, from.to(part.device())));
    found->second = moved;
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
