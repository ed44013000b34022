// Qwen3 as transformers has it: the attention mixer under other names.
#include "shellgame/models/families.h"
#include "shellgame/models/mixer.h"

namespace shellgame {
namespace {

using Json = Options::Json;

ModelSpec qwen3_spec(const Options& options) {
  ModelSpec spec;
  spec.vocabulary = options.size("vocab_size");
  spec.width = options.size("hidden_size");
  spec.norm_eps = options.number("rms_norm_eps");
  spec.tied = options.flag("tie_word_embeddings");
  spec.initializer_range = options.number("initializer_range");
  spec.names = {.root = "model",
                .embeddings = "embed_tokens",
                .mixer_norm = "input_layernorm",
                .mixer = "self_attn",
                .channel_norm = "post_attention_layernorm",
                .channel_mixer = "mlp",
                .final_norm = "norm",
                .head = "lm_head"};
  spec.channel_options = options;
  // transformers 5 keeps theta in rope_parameters, earlier ones beside the other keys.
  double theta = options.number_or("rope_theta", 10000);
  if (options.has("rope_parameters")) {
    const Options rope(options.json().at("rope_parameters"), options.where());
    if (rope.word_or("rope_type", "default") != "default") {
      options.refuse(fmt::format("'rope_type' must be default, not '{}'", rope.word("rope_type")));
    }
    theta = rope.number_or("rope_theta", theta);
  }
  Json keys = find_mixer("attention").defaults;
  keys["num_heads"] = options.size("num_attention_heads");
  keys["num_kv_heads"] =
      options.size_or("num_key_value_heads", options.size("num_attention_heads"));
  if (options.has("head_dim")) keys["head_dim"] = options.size("head_dim");
  keys["qkv_bias"] = options.flag_or("attention_bias", false);
  keys["o_bias"] = options.flag_or("attention_bias", false);
  keys["qk_norm"] = true;
  keys["qk_norm_eps"] = spec.norm_eps;
  keys["rope_theta"] = theta;
  const std::int64_t layers = layer_count(options);
  spec.layers.assign(static_cast<std::size_t>(layers),
                     {"attention", Options(keys, options.where())});
  const bool windowed =
      options.flag_or("use_sliding_window", false) && options.has("sliding_window");
  if (windowed) {
    for (std::int64_t i = 0; i < layers; ++i) {
      const bool slides = options.has("layer_types")
                              ? options.json().at("layer_types").at(static_cast<std::size_t>(i)) ==
                                    "sliding_attention"
                              : i >= options.integer("max_window_layers");
      if (!slides) continue;
      LayerSpec& layer = spec.layers[static_cast<std::size_t>(i)];
      layer.options = layer.options.with({{"window_size", options.size("sliding_window")}});
    }
  }
  return spec;
}

}  // namespace

Family qwen3_family() {
  const Json defaults = {{"model_type", "qwen3"},     {"vocab_size", 151936},
                         {"hidden_size", 4096},       {"intermediate_size", 22016},
                         {"num_hidden_layers", 32},   {"num_attention_heads", 32},
                         {"num_key_value_heads", 32}, {"head_dim", 128},
                         {"hidden_act", "silu"},      {"max_position_embeddings", 32768},
                         {"initializer_range", 0.02}, {"rms_norm_eps", 1e-6},
                         {"use_cache", true},         {"tie_word_embeddings", false},
                         {"attention_bias", false},   {"use_sliding_window", false},
                         {"sliding_window", nullptr}, {"max_window_layers", 28},
                         {"attention_dropout", 0.0}};
  return {.model_type = "qwen3",
          .architecture = "Qwen3ForCausalLM",
          .defaults = defaults,
          .spec = qwen3_spec};
}

}  // namespace shellgame
