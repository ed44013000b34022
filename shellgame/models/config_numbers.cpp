#include "shellgame/models/config_numbers.h"

#include <algorithm>
#include <cmath>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr NumberBounds kWidthBounds = NumberBounds::whole(1, 1 << 24);
constexpr NumberBounds kHeadBounds = NumberBounds::whole(1, 1 << 16);
constexpr NumberBounds kConvolutionBounds = NumberBounds::whole(1, 1024);  // of a convolution
constexpr NumberBounds kSpanBounds = NumberBounds::whole(1, (std::uint64_t{1} << 31) - 1);
constexpr NumberBounds kTokenIdBounds = NumberBounds::whole(-1, (std::uint64_t{1} << 31) - 1);
constexpr NumberBounds kFactorBounds = NumberBounds::real(1e-3, 1e3);
constexpr NumberBounds kEpsBounds = NumberBounds::real(0, 1);
constexpr NumberBounds kStepBounds = NumberBounds::real(1e-12, 1e3);

std::vector<DeclaredNumber> make_config_numbers() {
  return {
      {"vocab_size", kWidthBounds},
      {"hidden_size", NumberBounds::whole(1, 1 << 20)},
      {"intermediate_size", kWidthBounds},
      {"num_hidden_layers", NumberBounds::whole(1, 10'000)},
      {"hidden_ratio", kFactorBounds},
      {"num_heads", kHeadBounds},
      {"num_attention_heads", kHeadBounds},
      {"num_kv_heads", kHeadBounds},
      {"num_key_value_heads", kHeadBounds},
      {"num_v_heads", kHeadBounds},
      {"n_groups", kHeadBounds},
      {"head_dim", NumberBounds::whole(1, 1 << 20)},
      {"value_dim", kWidthBounds},
      {"state_size", kWidthBounds},
      {"cell_size", kWidthBounds},
      {"keep_bias", NumberBounds::real(-1e3, 1e3)},
      {"expand", kFactorBounds},
      {"expand_k", kFactorBounds},
      {"expand_v", kFactorBounds},
      {"conv_size", kConvolutionBounds},
      {"conv_kernel", kConvolutionBounds},
      {"num_householder", NumberBounds::whole(1, 1024)},
      {"decay_low_rank_dim", kWidthBounds},
      {"gate_low_rank_dim", kWidthBounds},
      {"a_low_rank_dim", kWidthBounds},
      {"v_low_rank_dim", kWidthBounds},
      {"renormalise_every", kSpanBounds},
      {"chunk_size", kSpanBounds},
      {"window_size", kSpanBounds},
      {"sliding_window", kSpanBounds},
      {"max_window_layers", NumberBounds::whole(0, 10'000)},
      {"max_position_embeddings", NumberBounds::whole(0, kMostSigned)},
      {"pad_token_id", kTokenIdBounds},
      {"bos_token_id", kTokenIdBounds},
      {"eos_token_id", kTokenIdBounds},
      {"norm_eps", kEpsBounds},
      {"rms_norm_eps", kEpsBounds},
      {"qk_norm_eps", kEpsBounds},
      {"initializer_range", NumberBounds::real(0, 1e3)},
      {"attention_dropout", kShareBounds},
      {"rope_theta", NumberBounds::real(1e-3, 1e15)},
      {"lower_bound", NumberBounds::real(-1e3, 1e3)},
      {"dt_min", kStepBounds},
      {"dt_max", kStepBounds},
      {"dt_init_floor", NumberBounds::real(0, 1e3)},
      {"dt_limit", NumberBounds::real(0, kNoEnd)},
      {"A_init_range", NumberBounds::real(1e-6, 1e6)},
  };
}

// The text of a JSON value as the bounds read it. Other tools write whole numbers as 2.0, and
// flash-linear-attention infinity as {"__float__": "Infinity"}.
std::string config_number_text(const nlohmann::json& value, bool whole) {
  if (value.is_object() && value.size() == 1 && value.contains("__float__"))
    return value["__float__"] == "Infinity" ? "inf" : value.dump();
  if (!value.is_number_float()) return value.dump();
  const auto number = value.get<double>();
  if (!std::isfinite(number)) return fmt::format("{}", number);
  if (whole && std::abs(number) < 1e15 && number == std::floor(number))
    return fmt::format("{:.0f}", number);
  return value.dump();
}

void check_config_value(const std::string& key, const nlohmann::json& value,
                        const NumberBounds& bounds, const std::string& where) {
  if (value.is_null()) return;
  if (value.is_array()) {
    for (const nlohmann::json& item : value) check_config_value(key, item, bounds, where);
    return;
  }
  const std::string text = config_number_text(value, bounds.is_whole());
  if (!bounds.accepts(text))
    throw InputError(where, fmt::format("'{}' must be {}, not {}", key, bounds.in_words(), text));
}

}  // namespace

const std::vector<DeclaredNumber>& config_numbers() {
  static const std::vector<DeclaredNumber> list = make_config_numbers();
  return list;
}

const NumberBounds* find_config_number(const std::string& key) {
  const auto found = std::ranges::find(config_numbers(), key, &DeclaredNumber::name);
  return found == config_numbers().end() ? nullptr : &found->bounds;
}

void check_config_numbers(const nlohmann::json& config, const std::string& where) {
  if (config.is_array()) {
    for (const nlohmann::json& item : config) check_config_numbers(item, where);
  } else if (config.is_object()) {
    for (const auto& [key, value] : config.items()) {
      if (const NumberBounds* bounds = find_config_number(key)) {
        check_config_value(key, value, *bounds, where);
      } else {
        check_config_numbers(value, where);
      }
    }
  }
}

}  // namespace shellgame
