#include "shellgame/train/trainer.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "shellgame/models/checkpoint.h"
#include "shellgame/models/finite.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/gemm_peak.h"
#include "shellgame/system/files.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/system/processor_time.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"
#include "shellgame/train/batch_tensors.h"
#include "shellgame/train/display.h"
#include "shellgame/train/first_weights.h"
#include "shellgame/train/loss_function.h"
#include "shellgame/train/memory_estimate.h"
#include "shellgame/train/metrics_file.h"
#include "shellgame/train/not_finite.h"
#include "shellgame/train/optimiser.h"
#include "shellgame/train/run_checkpoint.h"
#include "shellgame/train/run_directory.h"
#include "shellgame/train/saved_place.h"
#include "shellgame/train/schedule.h"
#include "shellgame/train/segment_gradient.h"
#include "shellgame/train/state_rows.h"
#include "shellgame/train/weight_average.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// At the least, for what an evaluation counts of a trace.
constexpr std::uint64_t kEvaluatedTraceBytes = 64;

std::string in_mebibytes(std::int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// The model's configuration, with the vocabulary that its data have unless it names another.
ModelConfig config_of(const Experiment& experiment, const Tokenizer* tokenizer) {
  Json json = experiment.model;
  check_known_keys(json, "[model]");
  std::uint64_t needed = 0;
  for (const StageSettings& stage : experiment.stages) {
    for (const DataCell& cell : stage.data)
      needed = std::max(needed,
                        cell.data->source(tokenizer, {.may_be_silent = true})->vocabulary_size());
  }
  if (!json.contains("vocab_size")) json["vocab_size"] = needed;
  ModelConfig config(std::move(json), "[model]");
  if (std::cmp_less(config.spec().vocabulary, needed))
    throw InputError("[model]", fmt::format("'vocab_size' must be at least {}, the tokens of the "
                                            "data, not {}",
                                            needed, config.spec().vocabulary));
  return config;
}

InitOptions init_of(const Experiment& experiment) {
  return {.seed = experiment.seed,
          .kind = experiment.init == "torch" ? InitKind::kTorch : InitKind::kFla};
}

// The text of the tokenizer.json that is in use; "" for lexemes and bytes.
std::string tokenizer_text(const Experiment& experiment, const Tokenizer* tokenizer) {
  if (tokenizer == nullptr || tokenizer->name() == "lexeme" || tokenizer->name() == "bytes")
    return "";
  const fs::path path = experiment.tokenizer;
  return read_file((fs::is_directory(path) ? path / "tokenizer.json" : path).string());
}

class Run {
 public:
  explicit Run(const TrainOptions& options)
      : options_(options),
        experiment_(options.experiment),
        tokenizer_(experiment_.stages.front().data.front().data->is_text()
                       ? open_tokenizer(experiment_.tokenizer)
                       : nullptr),
        tokenizer_text_(tokenizer_text(experiment_, tokenizer_.get())),
        loss_(loss_function(experiment_.loss)),
        checkpoints_(options.run + "/checkpoints"),
        display_(options.quiet),
        program_memory_(peak_memory()),
        model_(config_of(experiment_, tokenizer_.get()), init_of(experiment_)) {}

  TrainResult run() {
    const EngineScope engine(experiment_.composed ? Engine::kComposed : Engine::kKernels);
    check_run_directory(options_.run, experiment_, options_.resume);
    prepare_model();
    optimiser_.emplace(model_, experiment_.optimiser);
    average_.emplace(model_, experiment_.average.decay);
    check_memory();
    const RunDirectory directory(options_.run, experiment_, options_.resume);
    for (const std::string& difference : directory.differences())
      notice(true, fmt::format("this run goes on in another environment: {}", difference));
    if (begun_ != has_checkpoints())
      fail("the checkpoints of '{}' came or went while this run started: start it again",
           options_.run);
    start_or_resume();
    peak_ = experiment_.device == "cpu" ? measure_gemm_peak(1, PeakClock::kProcessor).best() : 0;
    const bool complete = loop();
    TrainResult result{.complete = complete,
                       .steps = place_.step,
                       .tokens = tokens_,
                       .seconds = seconds_,
                       .accuracy = running_accuracy()};
    if (complete) finish();
    return result;
  }

 private:
  // --- who is told

  template <class Tell>
  void tell(const Tell& to) {
    to(display_);
    if (metrics_) to(*metrics_);
    for (TrainObserver* one : options_.observers) to(*one);
  }

  void notice(bool wrong, const std::string& sentence) {
    tell([&](TrainObserver& one) { one.noticed(sentence, wrong); });
  }

  TrainingStage stage_now() const {
    return {.stage = place_.stage,
            .name = stage_name(),
            .steps = place_.stage_step,
            .tokens = tokens_,
            .accuracy = running_accuracy(),
            .seconds = seconds_};
  }

  void tell_end(bool complete) {
    const TrainingEnd end{.complete = complete,
                          .model = complete ? options_.run + "/model" : "",
                          .step = place_.step,
                          .tokens = tokens_,
                          .accuracy = running_accuracy(),
                          .seconds = seconds_};
    tell([&](TrainObserver& one) { one.ended(end); });
  }

  // --- before the first step

  void prepare_model() {
    // A run with checkpoints needs the model that it started from no more.
    begun_ = has_checkpoints();
    if (!experiment_.from.empty() && !begun_) {
      const std::string others = read_first_weights(experiment_.from, model_);
      if (!others.empty())
        notice(true, fmt::format("the model of '{}' has another configuration: {}",
                                 experiment_.from, others));
    }
    if (experiment_.precision == "fp64") model_.to(at::kDouble);
    if (experiment_.precision == "bf16") model_.to(at::kBFloat16);
    if (experiment_.device == "cuda") {
      if (!at::hasCUDA()) fail("this LibTorch must have CUDA for device = \"cuda\", and has none");
      model_.to(at::Device(at::kCUDA));
    }
  }

  bool has_checkpoints() const {
    return options_.resume && !checkpoint_steps(checkpoints_).empty();
  }

  void check_memory() {
    const std::string name = experiment_.name.empty() ? options_.run : experiment_.name;
    // What cannot be evaluated at the end is said before the training.
    if (options_.evaluate)
      require_memory(
          saturating_multiply(static_cast<std::uint64_t>(experiment_.evaluation.count),
                              kEvaluatedTraceBytes),
          fmt::format("what is counted of {} evaluated traces", experiment_.evaluation.count));
    if (experiment_.device != "cpu") {
      notice(false, fmt::format("{}: {} parameters", name, model_.parameter_count()));
      return;
    }
    const std::int64_t left = available_memory(), taken = peak_memory();
    MemoryEstimate most = estimate_memory(model_, experiment_, tokenizer_.get());
    most.parameters += average_->bytes();
    const std::int64_t need = saturating_add(program_memory_, most.total());
    notice(
        false,
        fmt::format(
            "{}: {} parameters; memory: about {} (the program itself {}, weights and optimiser {}, "
            "activations {})",
            name, model_.parameter_count(), in_mebibytes(need), in_mebibytes(program_memory_),
            in_mebibytes(most.parameters),
            in_mebibytes(saturating_add(most.activations, most.rows))));
    if (left > 0 && need > left + taken) {
      fail(
          "the run needs about {} of memory and the machine has {} for it: a smaller batch, with "
          "accumulation, needs less",
          in_mebibytes(need), in_mebibytes(left + taken));
    }
  }

  void start_or_resume() {
    std::optional<RunCheckpoint> checkpoint;
    if (options_.resume) {
      const at::NoGradGuard no_gradients;
      checkpoint = read_newest_checkpoint(
          checkpoints_, model_, [&](const std::string& sentence) { notice(true, sentence); },
          [&](const RunCheckpoint& found) { restore(found); });
      // To begin anew would lose what the checkpoints may still hold for who looks into them.
      if (!checkpoint && !checkpoint_steps(checkpoints_).empty())
        fail(
            "none of the checkpoints in '{}' is whole; remove them, and --resume starts from the "
            "beginning",
            checkpoints_);
      notice(false, checkpoint ? fmt::format("going on from step {}", checkpoint->step)
                               : "there is no checkpoint yet: starting from the beginning");
    }
    if (!checkpoint) begin_stage(0);
    metrics_.emplace(options_.run, place_.step);
    for (const std::string& sentence : metrics_->damaged())
      notice(true, sentence + "; the line is left out");
    if (const std::int64_t step = metrics_->first_missing(); step > 0)
      notice(true, fmt::format("'{}/metrics.jsonl' lacks step {} and perhaps later ones before "
                               "the checkpoint: somebody else has changed it",
                               options_.run, step));
    const TrainingStart start{.run = options_.run,
                              .step = place_.step,
                              .stages = experiment_.stages.size(),
                              .steps = experiment_.total_steps(),
                              .parameters = model_.parameter_count()};
    tell([&](TrainObserver& one) { one.started(start); });
    if (place_.stage_step == 0) tell([&](TrainObserver& one) { one.stage_begins(stage_now()); });
    saved_ = Clock::now();
    // Other weights than those of the seed cannot be made again.
    if (!checkpoint && !experiment_.from.empty()) save();
  }

  // Throws Error for what this run cannot have written.
  void restore(const RunCheckpoint& checkpoint) {
    const SavedPlace place = read_saved_place(checkpoint.place, checkpoint.step, experiment_);
    place_ = place.place;
    tokens_ = place.tokens;
    seconds_ = place.seconds;
    processor_seconds_ = place.processor_seconds;
    window_ = place.window;
    optimiser_->set_steps(place.optimiser_steps);
    average_->set_steps(place.average_steps);
    std::set<std::string> known;
    copy_tensors(checkpoint.tensors, "optimiser.", optimiser_->tensors(), known);
    if (average_->steps() > 0)
      copy_tensors(checkpoint.tensors, "average.", average_->tensors(), known);
    prepare_stage();
    const at::NoGradGuard no_gradients;
    for (std::size_t part = 0; part < states_.size(); ++part)
      states_[part] = saved_state(checkpoint.tensors, fmt::format("state.{}.", part),
                                  place.state_tokens[part], model_, stage_settings().batch, known);
    for (const auto& [name, tensor] : checkpoint.tensors) {
      if (!known.contains(name)) fail("no tensor may have the name '{}' in a run like this", name);
    }
  }

  void begin_stage(std::size_t stage) {
    place_.stage = stage;
    place_.stage_step = 0;
    window_.clear();
    average_->restart();
    prepare_stage();
  }

  // What a stage needs and can be made again at any step of it.
  void prepare_stage() {
    const StageSettings& stage = stage_settings();
    states_.clear();
    if (stage.stream) states_.resize(static_cast<std::size_t>(stage.accumulation));
    batches_ =
        std::make_unique<Batcher>(batch_plan(experiment_, place_.stage, tokenizer_.get(),
                                             /*together=*/stage.stream && !rows_are_apart(model_)));
    step_seconds_ = 0;
  }

  const StageSettings& stage_settings() const { return experiment_.stages[place_.stage]; }

  std::string stage_name() const {
    std::vector<std::string> axes;
    for (const std::string& axis : find_data_kind(experiment_.task.kind).axes)
      axes.push_back(fmt::format("{}", fmt::join(stage_settings().axes.at(axis), ",")));
    return axes.empty() ? experiment_.task.kind : fmt::format("({})", fmt::join(axes, ";"));
  }

  // --- the loop

  bool loop() {
    for (;;) {
      if (budget_is_spent()) {
        notice(true, fmt::format("the budget of {} CPU seconds is spent after step {}: "
                                 "training ends here",
                                 experiment_.budget, place_.step));
        return true;
      }
      while (stage_is_over()) {
        if (place_.stage + 1 == experiment_.stages.size()) return true;
        tell([&](TrainObserver& one) { one.stage_ends(stage_now()); });
        begin_stage(place_.stage + 1);
        tell([&](TrainObserver& one) { one.stage_begins(stage_now()); });
      }
      const auto start = Clock::now();
      const TrainingStep step = one_step(start);
      tell([&](TrainObserver& one) { one.step_done(step); });
      const EvaluationSettings& evaluation = experiment_.evaluation;
      if (options_.evaluate && evaluation.every > 0 && place_.step % evaluation.every == 0)
        evaluate();
      const bool stop = options_.interrupted != nullptr && *options_.interrupted;
      if (stop || checkpoint_is_due()) save();
      if (stop) {
        tell_end(false);
        return false;
      }
    }
  }

  // Not before the last step: a run that has done all its steps is not cut.
  bool budget_is_spent() const {
    return experiment_.budget > 0 && processor_seconds_ >= experiment_.budget && !all_is_done();
  }

  bool all_is_done() const {
    return place_.stage + 1 == experiment_.stages.size() && stage_is_over();
  }

  bool stage_is_over() const {
    const StageSettings& stage = stage_settings();
    if (place_.stage_step >= stage.steps) return true;
    return stage.until > 0 && static_cast<std::int64_t>(window_.size()) >= stage.window &&
           running_accuracy() >= stage.until;
  }

  // Of the last `window` steps; all answers count alike.
  double running_accuracy() const {
    std::int64_t right = 0, all = 0;
    for (const auto& [r, a] : window_) {
      right += r;
      all += a;
    }
    return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
  }

  TrainingStep one_step(Clock::time_point start) {
    const StageSettings& stage = stage_settings();
    const at::Device device = model_.parameters()[0].value.device();
    const double rate = learning_rate_at(experiment_, place_),
                 processor_start = process_processor_seconds();
    // All parts first: each weighs by what it counts.
    const auto data_start = Clock::now();
    parts_.resize(static_cast<std::size_t>(stage.accumulation));
    std::int64_t counted = 0;
    for (std::int64_t part = 0; part < stage.accumulation; ++part) {
      Batch& batch = parts_[static_cast<std::size_t>(part)];
      batches_->batch(place_.stage_step, part, batch);
      counted += batch.counted;
    }
    const double data_seconds = seconds_since(data_start);
    double loss_sum = 0;
    std::int64_t right = 0, answers = 0, tokens = 0;
    for (std::int64_t part = 0; part < stage.accumulation; ++part) {
      const Batch& batch = parts_[static_cast<std::size_t>(part)];
      ModelState* state = nullptr;
      if (stage.stream) {
        state = &states_[static_cast<std::size_t>(part)];
        begin_rows(model_, *state, batch.fresh);
      }
      const ModelState before = state != nullptr ? *state : ModelState();
      const at::Tensor ids = tensor_of(batch.ids, batch).to(device);
      const double share =
          counted > 0 ? static_cast<double>(batch.counted) / static_cast<double>(counted) : 0;
      const SegmentLoss loss =
          add_segment_gradient(model_, ids, targets_of(batch, experiment_.loss.asks, device),
                               stage.pieces, share, state, loss_);
      if (!std::isfinite(loss.mean)) stop_at(ids, before, fmt::format("the loss is {}", loss.mean));
      const at::Tensor correct = loss.correct.to(at::kCPU).contiguous();
      const bool* const hit = correct.data_ptr<bool>();
      for (const AnswerPlaces& answer : batch.answers) {
        if (!answer.ends) continue;
        ++answers;
        right += std::all_of(hit + answer.place, hit + answer.place + answer.length,
                             [](bool one) { return one; });
      }
      loss_sum += loss.mean * share;
      tokens += batch.tokens;
      if (part + 1 == stage.accumulation) {
        const double norm = optimiser_->step(rate);
        if (!std::isfinite(norm))
          stop_at(ids, before, fmt::format("the norm of the gradients is {}", norm));
        optimiser_->clear_gradients();
        average_->add(optimiser_->master_weights());
        gradient_norm_ = norm;
      }
    }
    ++place_.step;
    ++place_.stage_step;
    tokens_ += tokens;
    window_.emplace_back(right, answers);
    if (static_cast<std::int64_t>(window_.size()) > stage.window) window_.pop_front();
    const double took = seconds_since(start);
    seconds_ += took;
    processor_seconds_ += process_processor_seconds() - processor_start;
    step_seconds_ = step_seconds_ == 0 ? took : 0.95 * step_seconds_ + 0.05 * took;
    const double per_second = static_cast<double>(tokens) / took;
    // A step without a reveal has no accuracy.
    const Json accuracy =
        answers == 0 ? Json() : Json(static_cast<double>(right) / static_cast<double>(answers));
    TrainingStep done = report(loss_sum, static_cast<double>(tokens) / step_seconds_);
    done.metrics = {{"step", place_.step},
                    {"stage", place_.stage},
                    {"loss", loss_sum},
                    {"accuracy", accuracy},
                    {"learning_rate", rate},
                    {"gradient_norm", gradient_norm_},
                    {"tokens", tokens_},
                    {"seconds", seconds_},
                    {"tokens_per_second", per_second},
                    {"utilisation", utilisation(per_second)},
                    {"data_share", data_seconds / took},
                    {"time", now()}};
    return done;
  }

  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  [[noreturn]] void stop_at(const at::Tensor& ids, const ModelState& before,
                            const std::string& what) {
    const std::string where = what_is_not_finite(model_, ids, before);
    fail("step {} of stage {}: {}, and the first thing that is not finite is {}; {}",
         place_.step + 1, place_.stage + 1, what, where, last_good());
  }

  std::string last_good() const {
    const auto step = newest_whole_checkpoint(checkpoints_);
    if (step)
      return fmt::format("the last good checkpoint is '{}'", checkpoint_path(checkpoints_, *step));
    return checkpoint_steps(checkpoints_).empty() ? "there is no checkpoint yet"
                                                  : "there is no good checkpoint";
  }

  double utilisation(double tokens_per_second) const {
    if (peak_ <= 0) return 0;
    const std::int64_t counted =
        model_.parameter_count() - model_.parameters().front().value.numel();
    return 6.0 * static_cast<double>(counted) * tokens_per_second / peak_;
  }

  TrainingStep report(double loss, double tokens_per_second) const {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < place_.stage; ++i) before += experiment_.stages[i].steps;
    return {.stage = place_.stage,
            .stages = experiment_.stages.size(),
            .stage_name = stage_name(),
            .stage_step = place_.stage_step,
            .stage_steps = stage_settings().steps,
            .step = before + place_.stage_step,
            .steps = experiment_.total_steps(),
            .loss = loss,
            .accuracy = running_accuracy(),
            .tokens_per_second = tokens_per_second,
            .utilisation = utilisation(tokens_per_second),
            .seconds = seconds_,
            .step_seconds = step_seconds_};
  }

  void evaluate() {
    const auto start = Clock::now();
    const WeightAverage::Scope averaged(*average_);
    nlohmann::ordered_json cells = options_.evaluate(model_);
    // What depends on the moment or the place is left out: the cells of a run that was resumed are
    // those of one that was not.
    for (auto& cell : cells) {
      for (const char* key : {"seconds", "peak_memory_bytes", "model"}) cell.erase(key);
    }
    const TrainingEvaluation evaluation{.step = place_.step,
                                        .cells = cells,
                                        .metrics = {{"step", place_.step},
                                                    {"evaluation", cells},
                                                    {"seconds", seconds_since(start)},
                                                    {"time", now()}}};
    tell([&](TrainObserver& one) { one.evaluated(evaluation); });
  }

  bool checkpoint_is_due() const {
    const CheckpointSettings& settings = experiment_.checkpoint;
    return (settings.every > 0 && place_.step % settings.every == 0) ||
           (settings.seconds > 0 && seconds_since(saved_) >= settings.seconds);
  }

  SaveOptions save_options() const {
    return {.dtype = experiment_.precision == "fp64" ? Dtype::kF64 : Dtype::kF32,
            .lexemes = tokenizer_ != nullptr && tokenizer_->name() == "lexeme",
            .tokenizer = tokenizer_text_,
            .task = task_record_text(trained_task(experiment_))};
  }

  void save() {
    if (const Parameter* parameter = first_not_finite(model_))
      fail(
          "step {} of stage {}: after it the parameter {} is not finite, and no checkpoint is "
          "written; {}",
          place_.step, place_.stage + 1, parameter->name, last_good());
    RunCheckpoint checkpoint{.step = place_.step};
    Json window = Json::array(), seen = Json::array();
    for (const auto& [right, all] : window_) window.push_back({right, all});
    for (std::size_t part = 0; part < states_.size(); ++part) {
      seen.push_back(states_[part].tokens);
      for (const auto& [name, tensor] : state_tensors(states_[part]))
        checkpoint.tensors[fmt::format("state.{}.{}", part, name)] = tensor;
    }
    for (const auto& [name, tensor] : optimiser_->tensors())
      checkpoint.tensors["optimiser." + name] = tensor;
    if (average_->steps() > 0) {
      for (const auto& [name, tensor] : average_->tensors())
        checkpoint.tensors["average." + name] = tensor;
    }
    checkpoint.place = {{"stage", place_.stage},
                        {"stage_step", place_.stage_step},
                        {"tokens", tokens_},
                        {"seconds", seconds_},
                        {"processor_seconds", processor_seconds_},
                        {"window", window},
                        {"optimiser_steps", optimiser_->steps()},
                        {"average_steps", average_->steps()},
                        {"state_tokens", seen}};
    tell([&](TrainObserver& one) { one.checkpoint_begins(place_.step); });
    write_checkpoint(checkpoints_, checkpoint, model_, save_options(), experiment_.checkpoint.keep);
    tell([&](TrainObserver& one) {
      one.checkpoint_written(place_.step, checkpoint_path(checkpoints_, place_.step));
    });
    saved_ = Clock::now();
  }

  void finish() {
    const std::string model = options_.run + "/model";
    const bool done = fs::exists(options_.run + "/result.json");
    if (!done) {
      save();
      const WeightAverage::Scope averaged(*average_);
      if (options_.evaluate) {
        const nlohmann::ordered_json cells = options_.evaluate(model_);
        write_record(options_.run + "/evaluation.json", cells.dump(1) + "\n");
      }
      save_model(model_, model, save_options());
      nlohmann::ordered_json result = {{"steps", place_.step},
                                       {"tokens", tokens_},
                                       {"seconds", seconds_},
                                       {"processor_seconds", processor_seconds_},
                                       {"accuracy", running_accuracy()},
                                       {"parameters", model_.parameter_count()},
                                       {"peak_memory_bytes", peak_memory()}};
      if (budget_is_spent()) result["cut"] = 1;
      write_record(options_.run + "/result.json", result.dump(1) + "\n");
    }
    tell_end(true);
  }

  const TrainOptions& options_;
  const Experiment& experiment_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string tokenizer_text_;
  LossFunction loss_;
  std::string checkpoints_;
  Display display_;
  std::int64_t program_memory_;  // before there is a model
  Model model_;
  std::unique_ptr<Batcher> batches_;
  std::vector<Batch> parts_;  // of a step; their memory is used again
  std::optional<Optimiser> optimiser_;
  std::optional<WeightAverage> average_;
  std::optional<MetricsFile> metrics_;
  RunPlace place_;
  std::vector<ModelState> states_;                            // of streams, one a part of a step
  std::deque<std::pair<std::int64_t, std::int64_t>> window_;  // right and all answers of steps
  std::int64_t tokens_ = 0;
  double seconds_ = 0, processor_seconds_ = 0, step_seconds_ = 0, gradient_norm_ = 0, peak_ = 0;
  Clock::time_point saved_;
  bool begun_ = false;  // there were checkpoints to go on from
};

}  // namespace

TrainResult train(const TrainOptions& options) {
  keep_freed_memory();
  return Run(options).run();
}

}  // namespace shellgame
