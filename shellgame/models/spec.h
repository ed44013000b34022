// What the one model implementation needs to know, whatever family it comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shellgame/models/options.h"

namespace shellgame {

// The names of parts in a checkpoint.
struct PartNames {
  std::string root = "model";
  std::string embeddings = "embeddings";
  std::string mixer_norm = "attn_norm";
  std::string mixer = "attn";
  std::string channel_norm = "mlp_norm";
  std::string channel_mixer = "mlp";
  std::string final_norm = "norm";
  std::string head = "lm_head";
};

struct LayerSpec {
  std::string mixer;
  Options options;  // the mixer's own, complete
};

struct ModelSpec {
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  std::vector<LayerSpec> layers;
  std::string norm = "rms_norm";  // or "layer_norm"
  double norm_eps = 1e-6;
  bool norm_bias = false;
  bool first_norm = false;  // a norm on the stream before the first block ("pre_norm")
  std::string channel_mixer = "swiglu";
  Options channel_options;
  bool tied = false;  // the head is the embedding
  double initializer_range = 0.02;
  bool l2_warp = false;  // RWKV's pull on the largest logit, in the gradient only
  PartNames names;
};

}  // namespace shellgame
