#include "shellgame/models/exact.h"

#include <cmath>

#include "shellgame/episodes/task_record.h"
#include "shellgame/models/exact_recipes.h"
#include "shellgame/system/files.h"
#include "shellgame/system/replace_directory.h"
#include "shellgame/tensors/tensor_directory.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kUnitsRounded = 32;

// Keys that all families have.
Json common_config(int width, int intermediate) {
  return {{"hidden_size", width},
          {"intermediate_size", intermediate},
          {"num_hidden_layers", 2},
          {"vocab_size", lexemes()},
          {"hidden_ratio", 4},
          {"hidden_act", "swish"},
          {"norm_eps", 1e-6},
          {"initializer_range", 0.02},
          {"max_position_embeddings", 2048},
          {"use_cache", true},
          {"pad_token_id", LexemeTokenizer::kPad},
          {"bos_token_id", LexemeTokenizer::kBos},
          {"eos_token_id", LexemeTokenizer::kEos},
          {"tie_word_embeddings", false},
          {"fuse_norm", true},
          {"fuse_swiglu", true},
          {"fuse_cross_entropy", true},
          {"fuse_linear_cross_entropy", false},
          {"use_l2warp", false},
          {"attnres_block_size", nullptr},
          {"attn", nullptr},
          {"dtype", "float32"}};
}

Json delta_net_keys(bool silu, int heads) {
  return {{"attn_mode", "fused_recurrent"},  // fla's chunk form refuses float32
          {"num_heads", heads},
          {"expand_k", 1.0},
          {"expand_v", 1.0},
          {"allow_neg_eigval", true},
          {"use_beta", true},
          {"use_gate", false},
          {"use_output_norm", true},
          {"use_short_conv", true},
          {"conv_size", 4},
          {"qk_activation", silu ? "silu" : "identity"},
          {"qk_norm", "l2"}};
}

}  // namespace

VectorRows unit_rows(int count) {
  const auto n = static_cast<std::size_t>(count);
  VectorRows rows(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) rows[i][i] = 1;
  return rows;
}

VectorRows paired_rows(int count) {
  const auto n = static_cast<std::size_t>(count);
  VectorRows rows(n, std::vector<double>(n + n % 2));
  for (std::size_t i = 0; i < n; ++i) {
    rows[i][i - i % 2] = 1;
    rows[i][i - i % 2 + 1] = i % 2 == 0 ? 1 : -1;
  }
  return rows;
}

VectorRows signed_rows(int variables) {
  VectorRows rows = unit_rows(2 * variables);
  for (auto i = static_cast<std::size_t>(variables); i < rows.size(); ++i) rows[i][i] = -1;
  return rows;
}

// Helmert's basis of the vectors that sum to zero, read by columns.
VectorRows simplex_rows(int count) {
  const auto n = static_cast<std::size_t>(count);
  VectorRows rows(n, std::vector<double>(n - 1));
  const double length = std::sqrt(1 - 1.0 / count);
  for (std::size_t d = 0; d + 1 < n; ++d) {
    const auto before = static_cast<double>(d + 1);
    const double scale = 1 / (std::sqrt(before * (before + 1)) * length);
    for (std::size_t i = 0; i <= d; ++i) rows[i][d] = scale;
    rows[d + 1][d] = -before * scale;
  }
  return rows;
}

int lexemes() { return static_cast<int>(LexemeTokenizer::vocabulary().size()); }

int rounded_up(std::size_t rules) {
  return (static_cast<int>(rules) + kUnitsRounded - 1) / kUnitsRounded * kUnitsRounded;
}

void write_values(HandWritten& model, const TraceReader& reader, const std::vector<int>& values) {
  const Matrix v = model.matrix(1, "attn.v_proj.weight"), o = model.matrix(1, "attn.o_proj.weight");
  const double height = kOne / std::sqrt(model.width() / reader.heads());  // after the output norm
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const auto k = static_cast<std::size_t>(i);
    v(i, values[k]) = kStrong;
    o(reader.answer[k], i) = height;
  }
}

Json delta_net_config(int width, int intermediate, bool silu, int heads) {
  Json config = {{"architectures", {"DeltaNetForCausalLM"}}, {"model_type", "delta_net"}};
  config.update(common_config(width, intermediate));
  config.update(delta_net_keys(silu, heads));
  return config;
}

Json marginal_config(int width, int intermediate, int variables) {
  Json config = {{"architectures", {"ShellgameForCausalLM"}}, {"model_type", "shellgame_hybrid"}};
  config.update(common_config(width, intermediate));
  Json first = {{"mixer", "delta_net"}};
  first.update(delta_net_keys(false, kExactHeads));
  first.erase("attn_mode");
  const Json second = {{"mixer", "two_sided"},        {"num_heads", 1},
                       {"head_dim", variables},       {"value_dim", variables},
                       {"mixture", "householder"},    {"qk_norm", "l2"},
                       {"qk_activation", "identity"}, {"v_activation", "identity"},
                       {"use_short_conv", true},      {"conv_size", 4},
                       {"use_output_norm", false}};
  config["layers"] = Json::array({first, second});
  return config;
}

ExactModel exact_model(const ExactOptions& options) {
  if (options.variables < 2 || options.variables > kMostExactVariables)
    wrong_use("an exact model must have 2 to {} variables, not {}", kMostExactVariables,
              options.variables);
  const bool swaps = options.moves == ExactMoves::kSwaps;
  const bool standard = options.representation == ExactRepresentation::kStandard;
  if (options.kind == ExactKind::kMarginal) {
    if (!swaps) wrong_use("the marginal model must have moves swaps: it mixes two rows at a time");
    if (options.silu || standard)
      wrong_use("the marginal model must have activation identity and representation permutation");
    if (!(options.probability > 0 && options.probability < 1))
      wrong_use("the probability of a move must be between 0 and 1, not {}", options.probability);
    return exact_marginal(options);
  }
  if (options.kind != ExactKind::kTracking) {
    const bool log = options.kind == ExactKind::kLog;
    if (!swaps || options.silu || standard)
      wrong_use(
          "the {} model must have moves swaps, activation identity and representation permutation",
          log ? "log" : "conserving");
    if (log && options.variables > kMostLogVariables)
      wrong_use(
          "the log model must have 2 or 3 variables, not {}: a swap of 4 exchanges 12 pairs of "
          "orders, and its line has 5 tokens for one exchange each",
          options.variables);
    return log ? exact_log(options) : exact_conserving(options);
  }
  if (standard && (!swaps || options.silu))
    wrong_use("representation standard must have moves swaps and activation identity");
  // With SiLU keys cannot point along e_i - e_j for all pairs; slots need positive keys only.
  return swaps && !options.silu ? exact_swaps(options) : exact_slots(options);
}

void write_exact_model(const ExactModel& model, const std::string& directory,
                       const std::string& task) {
  std::vector<TensorSource> sources;
  for (const ExactTensor& tensor : model.tensors)
    sources.push_back({tensor.name, Dtype::kF64, tensor.shape, tensor.values.data(), Dtype::kF32});
  const Json tokenizer = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                          {"pad_token", "<pad>"},
                          {"bos_token", "<bos>"},
                          {"eos_token", "<eos>"},
                          {"unk_token", "<unk>"}};
  Json config = model.config;
  Metadata metadata = kPyTorchMetadata;
  config[kIdentityKey] = metadata[kIdentityKey] = identity_of(sources, model.config.dump());
  const auto write = [&](const std::string& path) {
    write_tensor_files(path, sources, kDefaultShardBytes, metadata);
    write_file(path + "/tokenizer.json", lexeme_tokenizer_json());
    write_file(path + "/tokenizer_config.json", tokenizer.dump(2) + "\n");
    write_file(path + "/config.json", config.dump(2) + "\n");
    if (!task.empty()) write_file(path + "/" + kTaskRecord, task);
  };
  replace_directory(directory, {.write = write, .replaces = is_model_file});
}

}  // namespace shellgame
