#include "shellgame/models/pass.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "shellgame/text/error.h"

namespace shellgame {

void hold_no_more_than_remembered(PartState& state) {
  // The states of a cell share one tensor, and four are the most: they are left together.
  constexpr std::size_t kTogether = 4;
  for (auto& [name, tensor] : state) {
    if (tensor.defined() && tensor.storage().nbytes() > kTogether * tensor.nbytes())
      tensor = tensor.clone(at::MemoryFormat::Contiguous);
  }
}

ModelState ModelState::detached() const {
  ModelState copy = *this;
  for (LayerState& layer : copy.layers) {
    for (auto* part : {&layer.mixer, &layer.channel_mixer}) {
      for (auto& [name, tensor] : *part) tensor = tensor.detach();
    }
  }
  return copy;
}

std::int64_t ModelState::bytes() const {
  std::int64_t sum = 0;
  for (const LayerState& layer : layers) {
    for (const auto* part : {&layer.mixer, &layer.channel_mixer}) {
      for (const auto& [name, tensor] : *part) {
        sum += tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
      }
    }
  }
  return sum;
}

bool Pass::wants(const std::string& name) const {
  return taps_ != nullptr && taps_->wanted({.layer = layer_, .name = name});
}

bool Pass::wants_any(const std::vector<std::string>& names) const {
  return std::ranges::any_of(names, [this](const std::string& name) { return wants(name); });
}

at::Tensor Pass::tap(const std::string& name, const at::Tensor& value, std::int64_t token) const {
  if (!wants(name)) return value;
  at::Tensor result = taps_->call({.layer = layer_, .name = name, .token = token}, value);
  if (result.sizes() != value.sizes()) {
    wrong_use("the tap '{}' of layer {} must return the shape [{}], not [{}]", name, layer_,
              fmt::join(value.sizes(), ", "), fmt::join(result.sizes(), ", "));
  }
  return result;
}

}  // namespace shellgame
