// Trains a small DeltaNet on swaps of three values, evaluates it on traces that it has not seen,
// and asks which head holds the state: train_and_probe RUN_DIRECTORY
#include <fmt/format.h>

#include <exception>

#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/checkpoint.h"
#include "shellgame/models/model_predictor.h"
#include "shellgame/ops/engine.h"
#include "shellgame/probe/probe.h"
#include "shellgame/random/seeds.h"
#include "shellgame/system/threads.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/train/trainer.h"

using namespace shellgame;

int main(int count, char** words) try {
  if (count != 2) throw std::runtime_error("name a directory for the run");
  use_threads(default_thread_count());
  const Experiment experiment = parse_experiment(R"(
name = "from the library"
[task]
group = "S3"
moves = "swaps"
[model]
model_type = "delta_net"
hidden_size = 32
num_heads = 2
num_hidden_layers = 2
intermediate_size = 64
allow_neg_eigval = true
[optimiser]
learning-rate = 4e-3
[[stages]]
commands = 4
spacing = 1
batch = 16
steps = 250
)",
                                                 "experiment");
  train({.experiment = experiment, .run = words[1], .quiet = true});

  const Model model = load_model(std::string(words[1]) + "/model");
  const LexemeTokenizer tokenizer;
  const TraceData data(Task{.group = "S3", .moves = Moves::kSwaps, .commands = 4, .spacing = 1});
  const SourceOptions unseen{.seed = evaluation_seed(0), .steps = true};
  const auto source = data.source(&tokenizer, unseen);
  const Evaluation result = evaluate(model, *source, 0, 64);
  const Statistics all = statistics_of(result.tally, {.chance = source->chance()});
  fmt::print("accuracy {:.3f}, chance {:.3f}\n", all.accuracy.value, source->chance());
  const WholeEpisodes episodes(data.source(&tokenizer, unseen), 64);
  const ProbeEntry& tracker = find_probe("find-tracker");
  fmt::print("{}", probe_as_text(tracker, tracker.ask({model, episodes, 64})));
  return all.accuracy.value > 1.2 * source->chance() ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "train_and_probe: {}\n", error.what());
  return 1;
}
