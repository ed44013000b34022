#include "shellgame/tool/run_source.h"

#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"

#include <filesystem>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tool/plugins.h"

namespace shellgame {

std::optional<Experiment> open_run(const std::string& run, ModelPlace& model,
                                   std::string& tokenizer) {
  if (run.empty() && model.directory.empty()) {
    wrong_use("either --run DIR or --model DIR must be given");
  }
  if (!run.empty() && !model.directory.empty()) {
    wrong_use("--run and --model must not be given together, and they are '{}' and '{}'", run,
              model.directory);
  }
  if (run.empty()) return {};
  if (!std::filesystem::exists(run + "/experiment.toml"))
    fail("--run must be the directory of a run, and '{}' has no experiment.toml", run);
  model.directory = run + "/model";
  if (!std::filesystem::exists(model.directory)) {
    fail("a run must have the directory '{}', and it is not there: has the training ended?",
         model.directory);
  }
  const std::string record = run + "/experiment.toml";
  use_plugins(experiment_plugins(read_file(record), record));
  Experiment experiment = read_experiment(record);
  if (tokenizer.empty() && !std::filesystem::exists(model.directory + "/tokenizer.json")) {
    tokenizer = experiment.tokenizer;
  }
  return experiment;
}

Task trace_task(const TaskOptions& options, const Experiment* run) {
  Task task = options.resolve_unchecked(run != nullptr ? run->task : Task());
  if (!task.stages.empty()) {
    task.commands = task.stages.back().commands;
    task.spacing = task.stages.back().spacing;
    task.stages.clear();
  }
  return task;
}

SequenceSpec trained_words(const Experiment& experiment, const std::string& run,
                           std::uint64_t length) {
  SequenceSpec spec = experiment.sequence.value_or(SequenceSpec{.kind = "traces"});
  if (!experiment.stages.empty()) spec = experiment.stages.back().sequence.value_or(spec);
  if (spec.kind != "word-problem") {
    wrong_use(
        "probes read traces and word problems, and the run '{}' was trained on {}: name a task "
        "that its model reads",
        run, spec.kind);
  }
  spec.min = spec.max =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kMaxSequenceLength));
  return spec;
}

SharedData probed_data(const Experiment& experiment, const std::string& run, std::uint64_t commands,
                       std::uint64_t spacing) {
  if (experiment.sequence)
    return std::make_shared<SequenceData>(trained_words(experiment, run, commands));
  Task task = experiment.task;
  task.stages.clear();
  task.commands = commands;
  task.spacing = spacing;
  check_task(task);
  return std::make_shared<TraceData>(std::move(task));
}

void add_model_options(CLI::App* command, std::string& run, ModelPlace& model,
                       std::string& tokenizer, const std::vector<std::string>& precisions) {
  command->add_option("--run", run, "a run: its model, and its task unless another is given")
      ->type_name("DIR");
  command->add_option("--model", model.directory, "a Hugging Face directory")->type_name("DIR");
  command
      ->add_option("--tokenizer", tokenizer,
                   "lexeme, bytes, or a tokenizer.json; by default the model's own, if any")
      ->type_name("NAME");
  add_words(command, "--device", model.device, {"cpu", "cuda"}, "where to compute");
  add_words(command, "--precision", model.precision, precisions, "the numbers to compute with");
}

void add_answer_options(CLI::App* command, std::string& format, std::string& output) {
  add_words(command, "--format", format, {"text", "json", "csv"}, "the form of the answer");
  command->add_option("-o,--output", output, "a file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
}

}  // namespace shellgame
