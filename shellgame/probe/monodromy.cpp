// One cycle's effect on the state of heads of the delta rule, and what follows for many.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "shellgame/probe/cycle.h"
#include "shellgame/probe/transitions.h"

namespace shellgame {
namespace {

const Remembered* recurrent_of(const MixerDeclaration& mixer) {
  const Remembered* found = nullptr;
  for (const Remembered& one : mixer.remembers) {
    if (one.kind != Remembered::Kind::kState) continue;
    if (found != nullptr) return nullptr;
    found = &one;
  }
  return found;
}

at::Tensor state_of(const ModelState& state, const HeadPlace& place, const Remembered& recurrent) {
  const at::Tensor all =
      state.layers[static_cast<std::size_t>(place.layer)].mixer.at(recurrent.name);
  return (recurrent.heads == 1 ? all : all.select(1, place.head)).to(at::kDouble);
}

}  // namespace

at::Tensor Monodromy::after(std::int64_t cycles) const {
  at::Tensor s = start;
  for (std::int64_t i = 0; i < cycles; ++i) s = at::matmul(m, s) + c;
  return s;
}

std::vector<double> Monodromy::spectrum(std::size_t count) const {
  const at::Tensor moduli =
      std::get<0>(at::linalg_eigvals(m).abs().sort(-1, /*descending=*/true)).mean(0).contiguous();
  const std::size_t size = std::min(count, static_cast<std::size_t>(moduli.numel()));
  return {moduli.data_ptr<double>(), moduli.data_ptr<double>() + size};
}

std::vector<Monodromy> measure_monodromy(const Model& model, const CycleTraces& traces,
                                         ModelState& state) {
  const at::NoGradGuard no_gradients;
  const std::vector<LayerHeads> layers = heads_of(model);
  std::vector<std::string> names = {"k", "beta"};
  for (const LayerHeads& layer : layers) {
    const bool fits = layer.beta && recurrent_of(layer.declaration) != nullptr;
    if (layer.state && !fits) return {};
    if (!layer.declaration.decay_tap.empty()) names.push_back(layer.declaration.decay_tap);
  }
  std::vector<std::map<std::string, at::Tensor>> seen(layers.size());
  const Taps taps{.wanted =
                      [&](const TapPoint& point) {
                        return std::ranges::find(names, point.name) != names.end();
                      },
                  .call =
                      [&](const TapPoint& point, const at::Tensor& x) {
                        seen[static_cast<std::size_t>(point.layer)][point.name] = x.to(at::kDouble);
                        return x;
                      }};
  const ModelState before = copied_state(state);
  model.logits(traces.cycle, &state, &taps);
  std::vector<Monodromy> all;
  for (const HeadPlace& place : heads_with(layers, &LayerHeads::beta)) {
    const LayerHeads& layer = layers[static_cast<std::size_t>(place.layer)];
    const auto& own = seen[static_cast<std::size_t>(place.layer)];
    const at::Tensor& keys = own.at("k");
    const at::Tensor& betas = own.at("beta");
    // Several heads of values may share one of keys.
    const std::int64_t key_head = place.head * keys.size(2) / betas.size(2);
    Monodromy one{.place = place, .m = {}, .c = {}, .start = {}};
    std::vector<at::Tensor> products;
    for (std::int64_t row = 0; row < keys.size(0); ++row) {
      const at::Tensor k = keys.select(0, row).select(1, key_head).contiguous();
      const at::Tensor beta = betas.select(0, row).select(1, place.head).contiguous();
      at::Tensor decay;
      if (!layer.declaration.decay_tap.empty())
        decay = step_decays(own.at(layer.declaration.decay_tap).select(0, row), place.head,
                            k.size(0), k.size(1));
      products.push_back(composed_transition(k, beta, decay));
    }
    one.m = at::stack(products);
    const Remembered& recurrent = *recurrent_of(layer.declaration);
    one.start = state_of(before, place, recurrent);
    one.c = state_of(state, place, recurrent) - at::matmul(one.m, one.start);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace shellgame
