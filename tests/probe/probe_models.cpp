#include "tests/probe/probe_models.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <random>

#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/checkpoint.h"
#include "shellgame/random/seeds.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "tests/system/scratch.h"

namespace shellgame {

Model exact_as_model(const ExactOptions& options) {
  const ScratchFolder directory;
  write_exact_model(exact_model(options), directory / "model");
  return load_model(directory / "model");
}

Model untrained_model(const std::string& mixer) {
  nlohmann::json keys = {{"model_type", "shellgame_" + mixer},
                         {"hidden_size", 32},
                         {"num_hidden_layers", 2},
                         {"intermediate_size", 40},
                         {"vocab_size", LexemeTokenizer::vocabulary().size()},
                         {"initializer_range", 0.3}};
  if (mixer != "lstm") keys["num_heads"] = 2;
  if (mixer == "delta_net") {
    keys["model_type"] = "delta_net";
    keys["allow_neg_eigval"] = true;
  }
  if (mixer == "attention") keys["model_type"] = "transformer";
  return Model(ModelConfig(keys), {.seed = 3});
}

void shuffle_weights(const Model& model) {
  const at::NoGradGuard no_gradients;
  std::mt19937 generator(5);
  for (const Parameter& parameter : model.parameters()) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(parameter.value.numel()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    std::ranges::shuffle(order, generator);
    const at::Tensor other =
        parameter.value.flatten().index_select(0, at::tensor(order, at::kLong));
    parameter.value.copy_(other.view(parameter.value.sizes()));
  }
}

const Tokenizer& lexeme_tokenizer() {
  static const LexemeTokenizer only;
  return only;
}

WholeEpisodes probe_traces(const std::string& toml, std::uint64_t count) {
  return {std::make_unique<TraceSource>(parse_task(toml, "task.toml"), lexeme_tokenizer(),
                                        SourceOptions{.seed = evaluation_seed(0), .steps = true}),
          count};
}

}  // namespace shellgame
