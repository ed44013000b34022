#include "shellgame/train/trainer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../system/scratch.h"
#include "shellgame/models/checkpoint.h"
#include "shellgame/system/checksum.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/train/metrics_file.h"
#include "shellgame/train/run_checkpoint.h"
#include "shellgame/train/run_directory.h"
#include "small_experiment.h"

namespace shellgame {
namespace {

TrainOptions options_for(const Experiment& experiment, const std::string& run) {
  return {.experiment = experiment, .run = run, .quiet = true};
}

// metrics.jsonl without what depends on the clock.
std::vector<std::string> lines_of(const std::string& run) {
  std::vector<std::string> lines;
  std::ifstream file(run + "/metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
    for (const char* name : {"time", "seconds", "tokens_per_second", "utilisation", "data_share"})
      json.erase(name);
    lines.push_back(json.dump());
  }
  return lines;
}

std::string weights_of(const std::string& run) {
  return read_file(run + "/model/model.safetensors");
}

// Trains until so many steps are done, then dies without a word.
struct Died {};
void train_and_die(TrainOptions options, std::int64_t after) {
  std::int64_t calls = 0;
  options.experiment.evaluation.every = 1;
  options.evaluate = [&](const Model&) -> nlohmann::ordered_json {
    if (++calls == after) throw Died();
    return nlohmann::ordered_json::array();
  };
  EXPECT_THROW(train(options), Died);
}

std::string refusal(const TrainOptions& options) {
  try {
    train(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Trainer, ARunIsADirectoryWithAllThatLaterStagesNeed) {
  const ScratchFolder folder;
  const TrainResult result = train(options_for(small_experiment(), folder / "run"));
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.steps, 18);
  for (const char* name :
       {"experiment.toml", "environment.json", "metrics.jsonl", "model/config.json",
        "model/model.safetensors", "model/tokenizer.json", "result.json",
        "checkpoints/step-00000018/trainer.json", "tensorboard/events.out.tfevents.0.shellgame"})
    EXPECT_TRUE(std::filesystem::exists(folder / ("run/" + std::string(name)))) << name;
  EXPECT_EQ(lines_of(folder / "run").size(), 18u);
  EXPECT_EQ(read_experiment(folder / "run/experiment.toml").resolved, small_experiment().resolved);
  EXPECT_NO_THROW(load_model(folder / "run/model"));
  const auto environment = nlohmann::json::parse(read_file(folder / "run/environment.json"));
  ASSERT_EQ(environment.size(), 1u);
  for (const char* key : {"processor", "simd", "blas", "onednn", "commit", "command"})
    EXPECT_TRUE(environment[0].contains(key)) << key;
}

// Whoever watches a run hears of everything in its order, as often as it happens.
struct Watcher final : TrainObserver {
  std::vector<std::string> heard;
  std::int64_t steps = 0, last = 0;
  void started(const TrainingStart& start) override {
    heard.push_back(start.step == 0 ? "started" : "goes on");
  }
  void stage_begins(const TrainingStage& stage) override {
    heard.push_back("begins " + stage.name);
  }
  void stage_ends(const TrainingStage& stage) override { heard.push_back("ends " + stage.name); }
  void step_done(const TrainingStep& step) override {
    EXPECT_EQ(step.step, last + 1);
    EXPECT_TRUE(step.metrics.contains("loss"));
    last = step.step;
    ++steps;
  }
  void evaluated(const TrainingEvaluation& evaluation) override {
    heard.push_back("evaluated at " + std::to_string(evaluation.step));
  }
  void ended(const TrainingEnd& end) override {
    heard.push_back(end.complete ? "ended" : "stopped");
  }
};

TEST(Trainer, AnObserverHearsOfEverythingInItsOrder) {
  const ScratchFolder folder;
  Watcher watcher;
  TrainOptions options = options_for(small_experiment(), folder / "run");
  options.observers = {&watcher};
  options.experiment.evaluation.every = 9;
  options.evaluate = [](const Model&) { return nlohmann::ordered_json::array(); };
  EXPECT_TRUE(train(options).complete);
  EXPECT_EQ(watcher.steps, 18);
  EXPECT_THAT(watcher.heard, testing::Contains("evaluated at 9"));
  EXPECT_EQ(watcher.heard.front(), "started");
  EXPECT_EQ(watcher.heard.back(), "ended");
  const auto count = [&](const std::string& begin) {
    return std::ranges::count_if(watcher.heard,
                                 [&](const std::string& one) { return one.starts_with(begin); });
  };
  EXPECT_EQ(count("begins"), static_cast<std::ptrdiff_t>(options.experiment.stages.size()));
  EXPECT_EQ(count("ends"), count("begins") - 1);  // the last one ends with the run
}

// Every start is recorded, and what may change the numbers is said.
TEST(Trainer, AResumedRunSaysWhatIsDifferent) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train_and_die(options_for(e, folder / "run"), 10);
  const std::string path = folder / "run/environment.json";
  auto environment = nlohmann::json::parse(read_file(path));
  environment[0]["simd"] = "another";
  write_file(path, environment.dump());
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(train(again).complete);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("in another environment: simd was \"another\" and is"));
  EXPECT_EQ(nlohmann::json::parse(read_file(path)).size(), 2u);
}

// Beliefs as targets, with streams, parts and pieces: stopped and resumed to the same bits, and the
// loss is that of the same answers.
TEST(Trainer, BeliefsAreTargetsAndResumeToTheSameBits) {
  const ScratchFolder folder;
  const std::vector<std::string> uncertain = {"task.uncertainty=branching", "stages.1.pieces=2"};
  std::vector<std::string> soft = uncertain;
  soft.push_back("loss=beliefs");
  const Experiment e = small_experiment(soft);
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "run"), 14);
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  EXPECT_TRUE(train(again).complete);
  EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
  train(options_for(small_experiment(uncertain), folder / "hard"));
  EXPECT_NE(weights_of(folder / "hard"), weights_of(folder / "whole"));
  const auto first = [&](const std::string& run) {
    return nlohmann::json::parse(lines_of(folder / run).front());
  };
  EXPECT_EQ(first("hard")["accuracy"], first("whole")["accuracy"]);
  EXPECT_NEAR(first("hard")["loss"].get<double>(), first("whole")["loss"].get<double>(), 0.2);
}

TEST(Trainer, ARunOfTheVersionBeforeIsRefused) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train_and_die(options_for(e, folder / "run"), 10);
  write_file(folder / "run/environment.json", R"({"shellgame": "0.1.0"})");
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  EXPECT_THAT(refusal(again), testing::HasSubstr("was made by shellgame 0.1.0"));
}

TEST(Trainer, LearnsTheTaskOfASecond) {
  const ScratchFolder folder;
  Experiment e = small_experiment({"stages.0.steps=150", "stages.0.batch=32", "checkpoint.every=0",
                                   "optimiser.learning-rate=1e-2"});
  e.stages.resize(1);
  const TrainResult result = train(options_for(e, folder / "run"));
  EXPECT_GT(result.accuracy, 0.6);  // 1/3 by chance
}

// A part with fewer targets counts for less: eight parts of a row are one part of eight rows. Rows
// of 2 and 16 commands; without the weights the loss differs by .002 and the norm by .02 and more.
TEST(Trainer, PartsOfAStepWeighByWhatTheyCount) {
  for (const std::string loss : {"all", "reveals"}) {
    const auto ran = [&](const ScratchFolder& folder, const std::string& name, int rows,
                         int parts) {
      Experiment e = small_experiment(
          {"stages.0.commands=[2, 16]", fmt::format("stages.0.batch={}", rows),
           fmt::format("stages.0.accumulation={}", parts), "loss=" + loss, "checkpoint.every=0",
           // AdamW's step is then in proportion to the gradient, which is not clipped either.
           "optimiser.eps=1", "optimiser.clip=0", "optimiser.learning-rate=1e-2"});
      e.stages.resize(1);
      train(options_for(e, folder / name));
      return lines_of(folder / name);
    };
    const ScratchFolder folder;
    const auto parts = ran(folder, "parts", 1, 8), whole = ran(folder, "whole", 8, 1);
    ASSERT_EQ(parts.size(), whole.size());
    double moved = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto one = nlohmann::json::parse(parts[i]), other = nlohmann::json::parse(whole[i]);
      EXPECT_NEAR(one["loss"].get<double>(), other["loss"].get<double>(), 2e-6) << loss << i;
      const auto norm = other["gradient_norm"].get<double>();
      EXPECT_NEAR(one["gradient_norm"].get<double>(), norm, 2e-6 * (1 + norm));
      EXPECT_EQ(one["tokens"], other["tokens"]);
    }
    const Model a = load_model(folder / "parts/model"), b = load_model(folder / "whole/model");
    const Model start(a.config(), {.kind = InitKind::kFla});
    for (std::size_t i = 0; i < a.parameters().size(); ++i) {
      const at::Tensor value = a.parameters()[i].value;
      EXPECT_LT((value - b.parameters()[i].value).abs().max().item<double>(), 1e-6)
          << a.parameters()[i].name;
      moved = std::max(moved, (value - start.parameters()[i].value).abs().max().item<double>());
    }
    EXPECT_GT(moved, 1e-3);
  }
}

// The weights are 16 bits wide; what changes them is not. A word problem of three letters and a
// small learning rate: without masters it ends at .70 instead of .80.
// (experiments/smoke/experiment.toml would take minutes, since bf16 has no kernels.)
TEST(Trainer, SixteenBitsLearnWhatThirtyTwoLearn) {
  const auto accuracy = [](const std::string& precision) {
    const ScratchFolder folder;
    const Experiment e = parse_experiment(R"(
threads = 1
[task]
kind = "word-problem"
group = "S3"
length = 4
[model]
model_type = "delta_net"
hidden_size = 24
num_hidden_layers = 1
num_heads = 2
intermediate_size = 48
allow_neg_eigval = true
[optimiser]
learning-rate = 1e-4
[schedule]
shape = "cosine"
minimum = 0.02
warmup = 20
[[stages]]
length = 3
batch = 64
steps = 500
window = 50
)",
                                          "words.toml", {"precision=" + precision});
    return train(options_for(e, folder / "run")).accuracy;
  };
  const double wide = accuracy("fp32"), narrow = accuracy("bf16");
  EXPECT_GT(wide, 0.75);  // 1/6 by chance
  EXPECT_NEAR(narrow, wide, 0.02);
}

TEST(Trainer, TwoRunsOfTheSameSeedHaveTheSameBits) {
  const ScratchFolder folder;
  train(options_for(small_experiment(), folder / "a"));
  train(options_for(small_experiment(), folder / "b"));
  train(options_for(small_experiment({"seed=1"}), folder / "c"));
  EXPECT_EQ(weights_of(folder / "a"), weights_of(folder / "b"));
  EXPECT_EQ(lines_of(folder / "a"), lines_of(folder / "b"));
  EXPECT_NE(weights_of(folder / "a"), weights_of(folder / "c"));
}

// At every step, in mid-stream too; checkpoints are three steps apart.
TEST(Trainer, ARunThatDiedAnywhereGoesOnToTheSameBits) {
  const std::vector<std::vector<std::string>> kinds = {
      {"optimiser.kind=adamw"},
      {"optimiser.kind=muon"},
      {"average.decay=0.8", "stages.1.commands=12", "stages.1.pieces=2"}};
  for (const std::vector<std::string>& kind : kinds) {
    const ScratchFolder folder;
    const Experiment e = small_experiment(kind);
    train(options_for(e, folder / "whole"));
    for (const std::int64_t after : {1, 4, 8, 9, 13, 17}) {
      const std::string run = folder / ("died-" + std::to_string(after));
      train_and_die(options_for(e, run), after);
      std::filesystem::remove_all(run + "/evaluation.json");
      TrainOptions again = options_for(e, run);
      again.resume = true;
      EXPECT_TRUE(train(again).complete);
      EXPECT_EQ(weights_of(run), weights_of(folder / "whole")) << after;
      std::vector<std::string> lines = lines_of(run);
      std::erase_if(lines, [](const std::string& line) {
        return line.find("evaluation") != std::string::npos;
      });
      EXPECT_EQ(lines, lines_of(folder / "whole")) << after;
    }
  }
}

// Masters and moments of both optimisers, and their mean, come back as they were.
TEST(Trainer, SixteenBitsGoOnToTheSameBitsToo) {
  const ScratchFolder folder;
  Experiment e = small_experiment({"precision=bf16", "average.decay=0.8", "optimiser.kind=muon"});
  e.stages.resize(1);
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "died"), 5);
  TrainOptions again = options_for(e, folder / "died");
  again.resume = true;
  train(again);
  EXPECT_EQ(weights_of(folder / "died"), weights_of(folder / "whole"));
}

TEST(Trainer, AttentionStreamsGoOnToTheSameBitsToo) {
  const ScratchFolder folder;
  const Experiment e =
      small_experiment({"model={ model_type = \"transformer\", hidden_size = 16, num_hidden_layers "
                        "= 1, num_heads = 2, window_size = 16 }"});
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "died"), 14);
  TrainOptions again = options_for(e, folder / "died");
  again.resume = true;
  train(again);
  EXPECT_EQ(weights_of(folder / "died"), weights_of(folder / "whole"));
}

TEST(Trainer, ADamagedCheckpointIsPassedOverAndTheEndIsTheSame) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "run"), 14);
  const auto steps = checkpoint_steps(folder / "run/checkpoints");
  ASSERT_EQ(steps, (std::vector<std::int64_t>{12, 9}));
  std::filesystem::resize_file(
      checkpoint_path(folder / "run/checkpoints", 12) + "/trainer.safetensors", 100);
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  train(again);
  EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
}

TEST(Trainer, WithoutAWholeCheckpointNothingBeginsAnewByItself) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train_and_die(options_for(e, folder / "run"), 14);
  for (const std::int64_t step : checkpoint_steps(folder / "run/checkpoints"))
    std::filesystem::resize_file(
        checkpoint_path(folder / "run/checkpoints", step) + "/trainer.safetensors", 100);
  const auto lines = lines_of(folder / "run");
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  testing::internal::CaptureStderr();
  EXPECT_THAT(refusal(again), testing::HasSubstr("none of the checkpoints"));
  // Said even to those who want to hear nothing else.
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("is damaged"));
  EXPECT_EQ(lines_of(folder / "run"), lines);
}

// As somebody would who knows the format: its checksum is right.
void forge(const std::string& checkpoint, const std::string& key, const nlohmann::json& value) {
  const std::string path = checkpoint + "/trainer.json";
  nlohmann::json record = nlohmann::json::parse(read_file(path));
  record["record"][nlohmann::json::json_pointer(key)] = value;
  record["checksum"] = crc32c(record["record"].dump());
  write_file(path, record.dump());
}

TEST(Trainer, APlaceThatTheExperimentDoesNotHaveIsPassedOver) {
  const std::vector<std::pair<std::string, nlohmann::json>> lies = {
      {"/place/stage", 1'000'000},
      {"/place/stage", 2},
      {"/place/stage", -1},
      {"/place/stage", "x"},
      {"/place/stage", 0},
      {"/place/stage_step", 1000},
      {"/place/stage_step", -3},
      {"/step", -1},
      {"/step", 13},
      {"/step", "x"},
      {"/place", nullptr},
      {"/place/tokens", -1},
      {"/place/seconds", nullptr},
      {"/place/seconds", -1.0},
      {"/place/optimiser_steps", -4},
      {"/place/optimiser_steps", 1'000'000'000},
      {"/place/average_steps", 5},
      {"/place/window", {{1}}},
      {"/place/window", {{5, 4}}},
      {"/place/window", {{-1, 4}}},
      {"/place/window", nlohmann::json::array({1})},
      {"/place/window", "x"},
      {"/place/state_tokens", nlohmann::json::array()},
      {"/place/state_tokens", {1, "x"}},
      {"/place/state_tokens", {-1, 1}},
      {"/kinds", nlohmann::json::array()},
      {"/kinds/optimiser.mean.lm_head.weight", "int64"},
      {"/kinds/state.0.0.mixer.recurrent", "int64"},
      {"/files", nlohmann::json::object()},
      {"/files", nullptr}};
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "died"), 14);
  for (const auto& [key, value] : lies) {
    SCOPED_TRACE(key + " " + value.dump());
    std::filesystem::remove_all(folder / "run");
    std::filesystem::copy(folder / "died", folder / "run",
                          std::filesystem::copy_options::recursive);
    forge(checkpoint_path(folder / "run/checkpoints", 12), key, value);
    TrainOptions again = options_for(e, folder / "run");
    again.resume = true;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(train(again).complete);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("step-00000012' is"));
    EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
  }
}

TEST(Trainer, TensorsThatTheExperimentDoesNotHaveArePassedOver) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "died"), 14);
  const std::string name = "trainer.safetensors";
  const SafetensorsFile file(checkpoint_path(folder / "died/checkpoints", 12) + "/" + name);
  for (const std::string changed :
       {"optimiser.mean.lm_head.weight", "state.0.0.mixer.recurrent", "state.1.0.mixer.conv_q"}) {
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE(fmt::format("{} {}", changed, kind));
      std::filesystem::remove_all(folder / "run");
      std::filesystem::copy(folder / "died", folder / "run",
                            std::filesystem::copy_options::recursive);
      const std::string checkpoint = checkpoint_path(folder / "run/checkpoints", 12);
      std::vector<std::vector<float>> held;
      std::vector<TensorSource> sources;
      for (const StoredTensor& tensor : file.tensors()) {
        held.push_back(file.floats(tensor.name));
        TensorSource source{.name = tensor.name, .shape = tensor.shape};
        if (tensor.name == changed) {
          if (kind == 0) source.shape = {1};
          if (kind == 1) source.shape.back() /= 2;
          if (kind == 2) source.name = "state.7.mixer.x";
        }
        source.data = held.back().data();
        sources.push_back(source);
      }
      write_safetensors(checkpoint + "/" + name, sources);
      forge(checkpoint, "/files/" + name, crc32c(read_file(checkpoint + "/" + name)));
      TrainOptions again = options_for(e, folder / "run");
      again.resume = true;
      testing::internal::CaptureStderr();
      EXPECT_TRUE(train(again).complete);
      EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("step-00000012' is"));
      EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
    }
  }
}

TEST(Trainer, WeightsThatAreNotFiniteArePassedOver) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "run"), 14);
  const std::string checkpoint = checkpoint_path(folder / "run/checkpoints", 12);
  std::string bytes = read_file(checkpoint + "/model.safetensors");
  bytes.replace(bytes.size() - 4, 4, std::string("\0\0\xC0\x7F", 4));  // NaN
  write_file(checkpoint + "/model.safetensors", bytes);
  forge(checkpoint, "/files/model.safetensors", crc32c(bytes));
  TrainOptions again = options_for(e, folder / "run");
  again.resume = true;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(train(again).complete);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("must be finite"));
  EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
}

// Who has the lock finds what somebody else has put there since the first look.
TEST(Trainer, ARunThatCameBeforeTheLockIsNotTakenForThisOne) {
  const ScratchFolder folder;
  const Experiment e = small_experiment(), other = small_experiment({"seed=4"});
  { const RunDirectory mine(folder / "run", e, false); }
  // What a killed process left is removed by who has the lock.
  std::filesystem::create_directories(folder / "run/checkpoints/step-00000003.17.partial");
  std::filesystem::create_directories(folder / "run/model.17.partial");
  EXPECT_THROW(RunDirectory(folder / "run", e, false), UsageError);
  EXPECT_THROW(RunDirectory(folder / "run", other, true), UsageError);
  EXPECT_NO_THROW(RunDirectory(folder / "run", e, true));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/model.17.partial"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "run/checkpoints"));
}

TEST(Trainer, TwoProcessesDoNotTrainInOneDirectory) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  {
    const RunDirectory held(folder / "run", e, false);
    TrainOptions options = options_for(e, folder / "run");
    options.resume = true;
    EXPECT_THAT(refusal(options), testing::HasSubstr("another process is training"));
  }
  EXPECT_NO_THROW(RunDirectory(folder / "run", e, true));
}

TEST(Trainer, AnInterruptedRunWritesACheckpointAndGoesOn) {
  const ScratchFolder folder;
  const Experiment e = small_experiment({"checkpoint.every=0"});
  train(options_for(e, folder / "whole"));
  const std::atomic<bool> stop = true;
  TrainOptions options = options_for(e, folder / "run");
  options.interrupted = &stop;
  EXPECT_FALSE(train(options).complete);
  EXPECT_EQ(checkpoint_steps(folder / "run/checkpoints"), (std::vector<std::int64_t>{1}));
  options.interrupted = nullptr;
  options.resume = true;
  EXPECT_TRUE(train(options).complete);
  EXPECT_EQ(weights_of(folder / "run"), weights_of(folder / "whole"));
}

// The checkpoint keeps the weights themselves, to go on with.
TEST(Trainer, TheModelAtTheEndIsTheMeanOfTheLastStage) {
  const ScratchFolder folder;
  train(options_for(small_experiment(), folder / "plain"));
  const Experiment e = small_experiment({"average.decay=0.999"});
  double evaluated = 0;
  TrainOptions options = options_for(e, folder / "mean");
  options.evaluate = [&](const Model& model) -> nlohmann::ordered_json {
    evaluated = model.parameters()[0].value.flatten()[0].item<double>();
    return nlohmann::ordered_json::array();
  };
  train(options);
  const Model plain = load_model(folder / "plain/model"), mean = load_model(folder / "mean/model");
  const Model last = load_model(checkpoint_path(folder / "mean/checkpoints", 18));
  for (std::size_t i = 0; i < plain.parameters().size(); ++i) {
    EXPECT_TRUE(last.parameters()[i].value.equal(plain.parameters()[i].value));
    EXPECT_FALSE(mean.parameters()[i].value.equal(plain.parameters()[i].value));
  }
  EXPECT_EQ(evaluated, mean.parameters()[0].value.flatten()[0].item<double>());
}

TEST(Trainer, PiecesChangeTheMemoryAndNotTheTraining) {
  const ScratchFolder folder;
  const std::vector<std::string> longer = {"stages.1.commands=12"};
  std::vector<std::string> cut = longer;
  cut.push_back("stages.1.pieces=3");
  train(options_for(small_experiment(longer), folder / "whole"));
  train(options_for(small_experiment(cut), folder / "cut"));
  const Model whole = load_model(folder / "whole/model"), pieces = load_model(folder / "cut/model");
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    EXPECT_LT(
        (whole.parameters()[i].value - pieces.parameters()[i].value).abs().max().item<double>(),
        1e-6)
        << whole.parameters()[i].name;
  }
  EXPECT_NE(weights_of(folder / "whole"), weights_of(folder / "cut"));
}

TEST(Trainer, StagesEndByAccuracyToo) {
  const ScratchFolder folder;
  const TrainResult result = train(options_for(
      small_experiment({"stages.0.until=0.0001", "stages.0.window=2"}), folder / "run"));
  EXPECT_LT(result.steps, 18);
}

TEST(Trainer, ASpentBudgetEndsARunWhereItIs) {
  const ScratchFolder folder;
  const TrainResult cut = train(options_for(small_experiment({"budget=1e-9"}), folder / "cut"));
  EXPECT_TRUE(cut.complete);
  EXPECT_EQ(cut.steps, 1);
  EXPECT_NE(read_file(folder / "cut/result.json").find("\"cut\": 1"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "cut/model/model.safetensors"));
  const TrainResult whole = train(options_for(small_experiment({"budget=1e6"}), folder / "whole"));
  EXPECT_EQ(whole.steps, 18);
  EXPECT_EQ(read_file(folder / "whole/result.json").find("cut"), std::string::npos);
}

TEST(Trainer, OtherWeightsMayBeTheFirst) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "first"));
  const Experiment still = small_experiment(
      {"optimiser.learning-rate=0", "seed=5", "from=\"" + (folder / "first/model") + "\""});
  train(options_for(still, folder / "second"));
  EXPECT_EQ(weights_of(folder / "first"), weights_of(folder / "second"));
}

TEST(Trainer, ARunWithCheckpointsNeedsTheModelThatItStartedFromNoMore) {
  const ScratchFolder folder;
  train(options_for(small_experiment(), folder / "first"));
  const Experiment e = small_experiment({"seed=5", "from=\"" + (folder / "first/model") + "\""});
  train(options_for(e, folder / "whole"));
  train_and_die(options_for(e, folder / "died"), 14);
  std::filesystem::remove_all(folder / "first");
  TrainOptions again = options_for(e, folder / "died");
  again.resume = true;
  EXPECT_TRUE(train(again).complete);
  EXPECT_EQ(weights_of(folder / "died"), weights_of(folder / "whole"));
}

TEST(Trainer, WhatCannotStartIsRefused) {
  const ScratchFolder folder;
  const Experiment e = small_experiment();
  train(options_for(e, folder / "run"));
  EXPECT_THAT(refusal(options_for(e, folder / "run")), testing::HasSubstr("already holds a run"));
  TrainOptions other = options_for(small_experiment({"seed=4"}), folder / "run");
  other.resume = true;
  EXPECT_THAT(refusal(other), testing::HasSubstr("it differs at /seed: 4"));
  EXPECT_THAT(
      refusal(options_for(small_experiment({"stages.0.batch=100000", "stages.0.commands=10000",
                                            "model.hidden_size=4096"}),
                          folder / "large")),
      testing::HasSubstr("of memory"));
}

TEST(Trainer, NumbersThatAreNotFiniteStopTheRunWithStepLayerAndCheckpoint) {
  const ScratchFolder folder;
  const std::string sentence = refusal(options_for(
      small_experiment({"optimiser.learning-rate=1e30", "optimiser.clip=0"}), folder / "run"));
  EXPECT_THAT(sentence, testing::HasSubstr("step "));
  EXPECT_THAT(sentence, testing::HasSubstr("not finite is"));
  EXPECT_THAT(sentence, testing::HasSubstr("checkpoint"));
}

// One step with such a rate makes every weight infinite, and its own loss is still finite.
TEST(Trainer, WeightsThatAreNotFiniteAreNoCheckpoint) {
  for (const char* every : {"checkpoint.every=1", "checkpoint.every=3", "stages.0.steps=1"}) {
    const ScratchFolder folder;
    const std::string sentence =
        refusal(options_for(small_experiment({"optimiser.learning-rate=1e300", every,
                                              "stages.1.steps=1", "stages.0.batch=2"}),
                            folder / "run"));
    EXPECT_THAT(sentence, testing::HasSubstr("not finite"));
    EXPECT_THAT(sentence, testing::HasSubstr("there is no checkpoint yet"));
    EXPECT_TRUE(checkpoint_steps(folder / "run/checkpoints").empty());
    EXPECT_FALSE(std::filesystem::exists(folder / "run/model"));
    EXPECT_FALSE(std::filesystem::exists(folder / "run/result.json"));
  }
}

TEST(Trainer, TheLastGoodCheckpointIsWhole) {
  const ScratchFolder folder;
  const Experiment good = small_experiment({"checkpoint.every=1"});
  train_and_die(options_for(good, folder / "run"), 5);
  const auto steps = checkpoint_steps(folder / "run/checkpoints");
  ASSERT_GE(steps.size(), 2u);
  std::filesystem::resize_file(
      checkpoint_path(folder / "run/checkpoints", steps[0]) + "/trainer.safetensors", 100);
  TrainOptions again = options_for(good, folder / "run");
  again.resume = true;
  again.experiment.optimiser.learning_rate = 1e300;  // as if the run went wrong here
  EXPECT_THAT(refusal(again), testing::HasSubstr(fmt::format(
                                  "the last good checkpoint is '{}'",
                                  checkpoint_path(folder / "run/checkpoints", steps[1]))));
}

}  // namespace
}  // namespace shellgame
