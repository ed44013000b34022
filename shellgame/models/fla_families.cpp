// flash-linear-attention's families: keys and defaults as its configurations have them.
#include <algorithm>

#include "shellgame/models/families.h"
#include "shellgame/models/mixer.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = Options::Json;

constexpr std::int64_t kRoundedTo = 256;

// Two thirds of ratio * width, rounded up: SwiGLU has three matrices where an MLP has two.
std::int64_t intermediate_size(const Options& options) {
  if (options.has("intermediate_size")) return options.size("intermediate_size");
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(options.size("hidden_size")) *
                                                options.number("hidden_ratio") * 2 / 3);
  return (wanted + kRoundedTo - 1) / kRoundedTo * kRoundedTo;
}

// The layers that the key `attn` gives to softmax attention: a dictionary or a list of them.
void place_attention(const Options& options, ModelSpec& spec) {
  if (!options.has("attn")) return;
  Json groups = options.json().at("attn");
  if (groups.is_object()) groups = Json::array({groups});
  if (!groups.is_array()) options.refuse("'attn' must be an object or a list of objects");
  for (const Json& group : groups) {
    if (!group.is_object() || !group.contains("layers") || !group.contains("num_heads")) {
      options.refuse("'attn' must name 'layers' and 'num_heads'");
    }
    const Options own(group, options.where() + ", 'attn'");
    for (const std::int64_t layer : own.integers("layers")) {
      if (layer < 0 || layer >= static_cast<std::int64_t>(spec.layers.size())) {
        options.refuse(fmt::format("'attn' must name layers from 0 to {}, not {}",
                                   spec.layers.size() - 1, layer));
      }
      Json keys = find_mixer("attention").defaults;
      keys["num_heads"] = own.size("num_heads");
      for (const char* key : {"num_kv_heads", "qkv_bias", "window_size", "rope_theta"}) {
        if (own.has(key)) keys[key] = group.at(key);
      }
      spec.layers[static_cast<std::size_t>(layer)] = {"attention", Options(keys, own.where())};
    }
  }
}

}  // namespace

Json fla_common_keys() {
  return {{"hidden_size", 2048},
          {"num_hidden_layers", 24},
          {"hidden_ratio", 4},
          {"intermediate_size", nullptr},
          {"hidden_act", "swish"},
          {"norm_eps", 1e-6},
          {"initializer_range", 0.02},
          {"vocab_size", 32000},
          {"max_position_embeddings", 2048},
          {"use_cache", true},
          {"pad_token_id", nullptr},
          {"bos_token_id", 1},
          {"eos_token_id", 2},
          {"tie_word_embeddings", false},
          {"fuse_norm", true},
          {"fuse_swiglu", true},
          {"fuse_cross_entropy", true},
          {"fuse_linear_cross_entropy", false},
          {"use_l2warp", false},
          {"attnres_block_size", nullptr},
          {"attn", nullptr}};
}

std::int64_t layer_count(const Options& options) {
  constexpr std::int64_t kMost = 10'000;
  const std::int64_t layers = options.size("num_hidden_layers");
  if (layers > kMost) {
    options.refuse(fmt::format("'num_hidden_layers' must be at most {}, not {}", kMost, layers));
  }
  return layers;
}

ModelSpec fla_spec(const Options& options, const std::string& mixer) {
  if (options.has("attnres_block_size")) {
    options.refuse("'attnres_block_size' must be null: attention residuals are not supported");
  }
  ModelSpec spec;
  spec.vocabulary = options.size("vocab_size");
  spec.width = options.size("hidden_size");
  spec.norm_eps = options.number("norm_eps");
  spec.tied = options.flag("tie_word_embeddings");
  spec.initializer_range = options.number("initializer_range");
  spec.l2_warp = options.flag_or("use_l2warp", false);
  const std::int64_t layers = layer_count(options);
  Json own = find_mixer(mixer).defaults;
  for (const auto& [key, value] : options.json().items()) {
    if (own.contains(key)) own[key] = value;
  }
  spec.layers.assign(static_cast<std::size_t>(layers), {mixer, Options(own, options.where())});
  spec.channel_options = options.with({{"intermediate_size", intermediate_size(options)}});
  place_attention(options, spec);
  return spec;
}

namespace {

Family fla_family(const std::string& model_type, const std::string& architecture,
                  const std::string& mixer, const Json& changes,
                  const std::function<void(const Options&, ModelSpec&)>& adapt = {}) {
  Json defaults = fla_common_keys();
  defaults.update(find_mixer(mixer).defaults);
  defaults.update(changes);
  defaults["model_type"] = model_type;
  return {.model_type = model_type,
          .architecture = architecture,
          .defaults = defaults,
          .spec = [mixer, adapt](const Options& options) {
            ModelSpec spec = fla_spec(options, mixer);
            if (adapt) adapt(options, spec);
            return spec;
          }};
}

// LayerNorms, a norm before the first block, and RWKV's channel mix.
void adapt_rwkv7(const Options& options, ModelSpec& spec) {
  spec.norm = "layer_norm";
  spec.norm_bias = options.flag("norm_bias");
  spec.first_norm = options.flag("norm_first");
  spec.channel_mixer = "rwkv_channel_mix";
  if (spec.layers.front().mixer == "attention") {
    options.refuse("'attn' must leave layer 0 to RWKV-7: later layers mix in its values");
  }
  spec.names.channel_norm = "ffn_norm";
  spec.names.channel_mixer = "ffn";
  constexpr std::int64_t kStep = 32;
  if (!options.has("intermediate_size")) {
    const auto wanted =
        static_cast<std::int64_t>(static_cast<double>(spec.width) * options.number("hidden_ratio"));
    spec.channel_options =
        options.with({{"intermediate_size", (wanted + kStep - 1) / kStep * kStep}});
  }
}

void adapt_mamba2(const Options&, ModelSpec& spec) {
  spec.channel_mixer = "none";
  spec.names = {.root = "backbone",
                .embeddings = "embeddings",
                .mixer_norm = "norm",
                .mixer = "mixer",
                .channel_norm = "",
                .channel_mixer = "",
                .final_norm = "norm_f",
                .head = "lm_head"};
}

}  // namespace

std::vector<Family> fla_families() {
  return {fla_family("delta_net", "DeltaNetForCausalLM", "delta_net",
                     {{"attn_mode", "chunk"}, {"use_output_norm", true}}),
          fla_family("gated_deltanet", "GatedDeltaNetForCausalLM", "gated_delta_net",
                     {{"attn_mode", "chunk"}, {"num_hidden_layers", 21}}),
          fla_family("gated_deltaproduct", "GatedDeltaProductForCausalLM", "delta_product",
                     {{"attn_mode", "chunk"}, {"num_hidden_layers", 21}}),
          fla_family("kda", "KDAForCausalLM", "kda", {{"attn_mode", "chunk"}}),
          fla_family("transformer", "TransformerForCausalLM", "attention",
                     {{"elementwise_affine", true}}),
          fla_family("rwkv7", "RWKV7ForCausalLM", "rwkv7",
                     {{"attn_mode", "chunk"},
                      {"hidden_act", "sqrelu"},
                      {"norm_first", true},
                      {"norm_bias", true},
                      {"norm_eps", 1e-5},
                      {"use_l2warp", true}},
                     adapt_rwkv7),
          fla_family("mamba2", "Mamba2ForCausalLM", "mamba2",
                     {{"num_hidden_layers", 48},
                      {"norm_eps", 1e-5},
                      {"pad_token_id", 0},
                      {"conv_init", nullptr},
                      {"hidden_act", "silu"},
                      {"residual_in_fp32", true},
                      {"chunk_size", 256}},
                     adapt_mamba2)};
}

}  // namespace shellgame
