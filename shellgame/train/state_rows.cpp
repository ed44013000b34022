#include "shellgame/train/state_rows.h"

#include <ATen/Functions.h>

#include <string>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr const char* kMixer = "mixer";
constexpr const char* kChannelMixer = "channel_mixer";

}  // namespace

bool rows_are_apart(const Model& model) {
  for (std::size_t i = 0; i < model.layers(); ++i) {
    if (!model.declaration(i).rows_are_apart()) return false;
  }
  return true;
}

void restart_rows(const Model& model, ModelState& state, const std::vector<bool>& rows) {
  at::Tensor kept = at::ones({static_cast<std::int64_t>(rows.size())}, at::kBool);
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    kept.data_ptr<bool>()[i] = !rows[i];
    any = any || rows[i];
  }
  if (!any) return;
  const auto restart = [&](at::Tensor& tensor, const at::Tensor& begin) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(tensor.dim()), 1);
    shape.at(0) = kept.size(0);
    // Not a product: what a row holds may be infinite.
    tensor = at::where(
        kept.view(shape).to(tensor.device()), tensor,
        begin.defined() ? begin.to(tensor.options()).expand_as(tensor) : at::zeros_like(tensor));
  };
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    for (const Remembered& one : model.declaration(i).remembers)
      restart(state.layers[i].mixer.at(one.name), one.begin);
    for (auto& [name, tensor] : state.layers[i].channel_mixer) restart(tensor, {});
  }
}

void begin_rows(const Model& model, ModelState& state, const std::vector<bool>& fresh) {
  if (state.layers.empty()) return;
  if (rows_are_apart(model)) {
    restart_rows(model, state, fresh);
  } else if (fresh.at(0)) {
    state = ModelState();
  }
}

std::map<std::string, at::Tensor> state_tensors(const ModelState& state) {
  std::map<std::string, at::Tensor> all;
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    const std::string layer = std::to_string(i);
    for (const auto& [name, tensor] : state.layers[i].mixer)
      all[layer + "." + kMixer + "." + name] = tensor;
    for (const auto& [name, tensor] : state.layers[i].channel_mixer)
      all[layer + "." + kChannelMixer + "." + name] = tensor;
  }
  return all;
}

ModelState state_from_tensors(const std::map<std::string, at::Tensor>& tensors,
                              std::int64_t tokens) {
  ModelState state;
  state.tokens = tokens;
  for (const auto& [path, tensor] : tensors) {
    const std::size_t first = path.find('.'), second = path.find('.', first + 1);
    if (second == std::string::npos)
      fail("a state's tensor must be LAYER.PART.NAME, not '{}'", path);
    const auto layer = static_cast<std::size_t>(std::stoul(path.substr(0, first)));
    if (state.layers.size() <= layer) state.layers.resize(layer + 1);
    const std::string part = path.substr(first + 1, second - first - 1);
    auto& into = part == kMixer ? state.layers[layer].mixer : state.layers[layer].channel_mixer;
    into[path.substr(second + 1)] = tensor;
  }
  return state;
}

}  // namespace shellgame
