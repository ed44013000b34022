#include "shellgame/models/block.h"

namespace shellgame {

Block::Block(const ModelSpec& spec, int layer, const Weights& weights) {
  const auto norm = [&](const std::string& name) {
    return make_norm(weights, name, spec.norm, spec.width, spec.norm_eps, spec.norm_bias);
  };
  const LayerSpec& own = spec.layers[static_cast<std::size_t>(layer)];
  if (layer == 0 && spec.first_norm) first_norm_ = norm("pre_norm");
  mixer_norm_ = norm(spec.names.mixer_norm);
  const MixerPlace place{.width = spec.width,
                         .layer = layer,
                         .layers = static_cast<int>(spec.layers.size()),
                         .norm_eps = spec.norm_eps};
  mixer_ = find_mixer(own.mixer).make(own.options, place, weights.inside(spec.names.mixer));
  if (spec.channel_mixer != "none") channel_norm_ = norm(spec.names.channel_norm);
  channel_mixer_ = make_channel_mixer(spec.channel_mixer, spec.width, spec.channel_options,
                                      weights.inside(spec.names.channel_mixer));
}

at::Tensor Block::forward(const at::Tensor& x, LayerState* state, Pass& pass) const {
  at::Tensor y = first_norm_.weight.defined() ? first_norm_(x) : x;
  y = pass.tap("block_input", y);
  y = mixer_->forward(Stream(y, &mixer_norm_), state ? &state->mixer : nullptr, pass);
  y = pass.tap("mixed", y);
  if (channel_mixer_) {
    y = channel_mixer_->forward(Stream(y, &channel_norm_), state ? &state->channel_mixer : nullptr,
                                pass);
  }
  if (state != nullptr) {
    hold_no_more_than_remembered(state->mixer);
    hold_no_more_than_remembered(state->channel_mixer);
  }
  return pass.tap("block_output", y);
}

}  // namespace shellgame
