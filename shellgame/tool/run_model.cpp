// The learning part's side of `shellgame model`.
#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "shellgame/models/checkpoint.h"
#include "shellgame/models/finite.h"
#include "shellgame/models/mixer.h"
#include "shellgame/models/model_tokenizer.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/tensors/npy.h"
#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

at::ScalarType scalar_type(const std::string& precision) {
  if (precision == "fp64") return at::kDouble;
  if (precision == "bf16") return at::kBFloat16;
  if (precision == "fp16") return at::kHalf;
  return at::kFloat;
}

Dtype stored_type(const std::string& precision) {
  if (precision == "fp64") return Dtype::kF64;
  if (precision == "bf16") return Dtype::kBf16;
  if (precision == "fp16") return Dtype::kF16;
  return Dtype::kF32;
}

std::string shape_of(const at::Tensor& tensor) {
  std::string text;
  for (const std::int64_t size : tensor.sizes())
    text += fmt::format("{}{}", text.empty() ? "" : " x ", size);
  return text;
}

std::string in_bytes(std::int64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::vector<std::vector<std::int64_t>> read_ids(const std::string& path) {
  try {
    const auto json = parse_json(read_input(path), path);
    auto rows = json.get<std::vector<std::vector<std::int64_t>>>();
    // The conversion takes 1.5 for 1.
    for (const auto& row : json) {
      for (const auto& id : row) {
        const bool whole =
            id.is_number_unsigned() ? id.get<std::uint64_t>() >> 63 == 0 : id.is_number_integer();
        if (!whole)
          throw InputError(path,
                           fmt::format("a token id must be a whole number, not {}", id.dump()));
      }
    }
    if (rows.empty() || rows.front().empty()) throw InputError(path, "there must be a token id");
    for (const auto& row : rows) {
      if (row.size() != rows.front().size()) {
        throw InputError(path, fmt::format("all sequences must be equally long, not {} and {}",
                                           rows.front().size(), row.size()));
      }
    }
    return rows;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path,
                     fmt::format("the file must be a JSON list of lists of ids: {}", error.what()));
  }
}

}  // namespace

Model open_model(const ModelPlace& place) {
  Model model = load_model(place.directory);
  if (place.device == "cuda") {
    if (!at::hasCUDA()) fail("this LibTorch must have CUDA for --device cuda, and it has none");
    model.to(at::Device(at::kCUDA));
  }
  model.to(scalar_type(place.precision));
  if (const Parameter* parameter = first_not_finite(model)) {
    fail("the weights of '{}' must be finite in {}, but '{}' has infinities or NaNs",
         place.directory, place.precision, parameter->name);
  }
  return model;
}

void run_describe(const DescribeOptions& options) {
  const Model model = load_model(options.directory);
  const ModelSpec& spec = model.config().spec();
  const std::int64_t count = model.parameter_count();
  const at::NoGradGuard no_gradients;
  ModelState state;
  model.logits(at::zeros({1, 1}, at::kLong), &state);
  const auto row_bytes = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t embedding = model.parameters().front().value.numel();
  if (options.format == "json") {
    Json json = {{"model_type", model.config().model_type()},
                 {"parameters", count},
                 {"parameters_without_embedding", count - embedding},
                 {"width", spec.width},
                 {"vocabulary", spec.vocabulary},
                 {"weights_bytes", count * row_bytes},
                 {"training_bytes", 4 * count * row_bytes},
                 {"state_bytes", state.bytes()},
                 {"constant_memory", model.constant_memory()},
                 {"layers", Json::array()},
                 {"tensors", Json::array()}};
    for (const LayerSpec& layer : spec.layers) {
      json["layers"].push_back({{"mixer", layer.mixer}, {"options", layer.options.json()}});
    }
    for (const Parameter& parameter : model.parameters()) {
      json["tensors"].push_back({{"name", parameter.name},
                                 {"shape", parameter.value.sizes().vec()},
                                 {"weight_decay", parameter.decays}});
    }
    print_data(json.dump(2) + "\n");
    return;
  }
  print_lines("{}: {} parameters ({} without the embedding), {} layers, width {}, vocabulary {}\n",
              model.config().model_type(), count, count - embedding, spec.layers.size(), spec.width,
              spec.vocabulary);
  print_lines("memory in fp32: weights {}, with gradients and AdamW {}\n",
              in_bytes(count * row_bytes), in_bytes(4 * count * row_bytes));
  print_lines("streaming: {} a sequence after the first token, {}\n\n", in_bytes(state.bytes()),
              model.constant_memory() ? "whatever its length" : "growing with its length");
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    print_lines("layer {}: {}{}\n", i, spec.layers[i].mixer,
                spec.channel_mixer == "none" ? "" : ", " + spec.channel_mixer);
  }
  print_lines("\n");
  for (const Parameter& parameter : model.parameters()) {
    print_lines("{:<48} {:>16} {:>12}\n", parameter.name, shape_of(parameter.value),
                parameter.value.numel());
  }
}

void run_logits(const LogitsOptions& options) {
  const auto rows = read_ids(options.ids);
  const Model model = open_model(options.model);
  const EngineScope engine(options.model.composed ? Engine::kComposed : Engine::kKernels);
  const at::NoGradGuard no_gradients;
  const auto time = static_cast<std::int64_t>(rows.front().size());
  const std::int64_t vocabulary = model.config().spec().vocabulary;
  NpyWriter writer(options.output, Dtype::kF32,
                   {static_cast<std::int64_t>(rows.size()), time, vocabulary});
  for (const auto& row : rows) {
    ModelState state;
    for (std::int64_t from = 0; from < time; from += options.segment) {
      const std::int64_t size = std::min(options.segment, time - from);
      at::Tensor ids = at::empty({1, size}, at::kLong);
      std::copy_n(row.begin() + from, size, ids.data_ptr<std::int64_t>());
      const at::Tensor logits =
          model.logits(ids.to(model.parameters().front().value.device()), &state)
              .to(at::kCPU)
              .to(at::kFloat)
              .contiguous();
      writer.append(std::span<const float>(logits.data_ptr<float>(),
                                           static_cast<std::size_t>(logits.numel())));
    }
  }
  writer.commit();
}

namespace {

std::int64_t next_token(const at::Tensor& logits, const GenerateOptions& options,
                        RandomStream& numbers) {
  if (options.temperature == 0) return logits.argmax(-1).item<std::int64_t>();
  at::Tensor scores = logits.to(at::kDouble) / options.temperature;
  if (options.top > 0 && options.top < scores.size(0)) {
    const at::Tensor least = std::get<0>(scores.topk(options.top)).min();
    scores = scores.masked_fill(scores < least, -INFINITY);
  }
  const at::Tensor sums = scores.softmax(-1).cumsum(-1);
  const double drawn = draw_uniform(numbers) * sums[sums.size(0) - 1].item<double>();
  return std::min((sums <= drawn).sum().item<std::int64_t>(), sums.size(0) - 1);
}

}  // namespace

void run_generate(const GenerateOptions& options) {
  if (options.prompt.empty() == options.prompt_file.empty()) {
    wrong_use("either --prompt or --prompt-file must be given");
  }
  const std::string text =
      options.prompt_file.empty() ? options.prompt : read_input(options.prompt_file);
  const Model model = open_model(options.model);
  const auto tokenizer =
      open_tokenizer(tokenizer_of(options.tokenizer, options.model.directory, model));
  std::vector<std::uint32_t> ids;
  tokenizer->encode(text, ids);
  if (ids.empty()) wrong_use("the prompt must have a token");
  const EngineScope engine(options.model.composed ? Engine::kComposed : Engine::kKernels);
  const at::NoGradGuard no_gradients;
  const at::Device device = model.parameters().front().value.device();
  at::Tensor prompt = at::empty({1, static_cast<std::int64_t>(ids.size())}, at::kLong);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    prompt.data_ptr<std::int64_t>()[i] = ids[i];
  }
  ModelState state;
  at::Tensor logits = model.logits(prompt.to(device), &state).select(1, prompt.size(1) - 1);
  RandomStream numbers(options.seed, 0, Lane::kSequence);
  std::vector<std::uint32_t> added;
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    require_finite(logits, fmt::format("the model's logits after {} tokens", state.tokens));
    const std::int64_t token = next_token(logits[0].to(at::kCPU), options, numbers);
    if (token >= static_cast<std::int64_t>(tokenizer->vocabulary_size())) {
      fail("the model chose token {}, which the tokenizer '{}' does not have", token,
           tokenizer->name());
    }
    added.push_back(static_cast<std::uint32_t>(token));
    logits = model.step(at::full({1}, token, at::kLong).to(device), state);
  }
  const std::string continuation = tokenizer->decode(added.data(), added.size());
  if (options.format == "json") {
    const Json json = {{"prompt", text}, {"text", continuation}, {"ids", added}};
    print_data(json.dump(2) + "\n");
  } else {
    print_data(text + continuation + "\n");
  }
}

void run_convert(const ConvertOptions& options) {
  const Model model = load_model(options.input);
  const std::optional<TaskRecord> record = read_task_record(options.input);
  const bool own_tokenizer =
      std::filesystem::exists(options.input + "/tokenizer.json") && !options.lexemes;
  save_model(model, options.output,
             {.dtype = stored_type(options.precision),
              .max_shard_bytes = options.max_shard_bytes,
              .lexemes = options.lexemes,
              .task = record ? task_record_text(*record) : ""});
  if (!own_tokenizer) return;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    const std::string from = options.input + "/" + name;
    if (std::filesystem::exists(from)) write_file(options.output + "/" + name, read_file(from));
  }
}

namespace {

// A key on the command line that nothing reads is a mistake; those of a file are kept.
void check_keys(const nlohmann::json& model_type, const std::vector<std::string>& set) {
  if (!model_type.is_string()) return;  // refused with the rest
  std::vector<std::string> known = {"architectures", "dtype", "torch_dtype", "layer_types",
                                    "rope_parameters"};
  const auto add = [&](const nlohmann::json& defaults) {
    for (const auto& [key, value] : defaults.items()) known.push_back(key);
  };
  add(find_family(model_type).defaults);
  if (model_type == "shellgame_hybrid") {
    for (const std::string& mixer : mixer_names()) add(find_mixer(mixer).defaults);
  }
  for (const std::string& key : set) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string near = nearest_name(key, known);
    wrong_use("--set must name a key of {}, not '{}'{}", model_type.get<std::string>(), key,
              near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
  }
}

// What is no JSON is text: --set qk_norm=l2 needs no quotes.
nlohmann::json json_or_text(const std::string& value) {
  try {
    return parse_json(value, "--set");
  } catch (const InputError&) {
    return value;
  }
}

}  // namespace

void run_new_model(const NewModelOptions& options) {
  nlohmann::json keys = nlohmann::json::object();
  std::string where = "--set";
  if (!options.config.empty()) {
    where = options.config;
    keys = parse_json(read_input(options.config), options.config);
    if (!keys.is_object()) throw InputError(where, "the file must hold a JSON object");
  }
  std::vector<std::string> set;
  for (const std::string& setting : options.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      wrong_use("--set must be KEY=VALUE, not '{}'", setting);
    }
    const std::string value = setting.substr(equals + 1);
    set.push_back(setting.substr(0, equals));
    keys[set.back()] = json_or_text(value);
  }
  if (keys.contains("model_type")) check_keys(keys["model_type"], set);
  ModelConfig config(keys, where);
  const std::int64_t lexemes = LexemeTokenizer().vocabulary_size();
  if (options.lexemes && config.spec().vocabulary < lexemes)
    throw InputError(where, fmt::format("'vocab_size' must be at least {}, the lexemes, not {}",
                                        lexemes, config.spec().vocabulary));
  const Model model(
      std::move(config),
      {.seed = options.seed, .kind = options.init == "torch" ? InitKind::kTorch : InitKind::kFla});
  save_model(model, options.output, {.lexemes = options.lexemes});
}

}  // namespace shellgame
