#include "shellgame/tool/run_source.h"

#include <algorithm>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
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

std::optional<TaskRecord> task_of_model(const Experiment* run, const std::string& directory) {
  if (run != nullptr) {
    TaskRecord record = trained_task(*run);
    // What the run wrote down when it ended holds also where its first weights are gone.
    const std::optional<TaskRecord> written =
        directory.empty() ? std::nullopt : read_task_record(directory);
    if (written && written->axis == record.axis)
      record.longest = std::max(record.longest, written->longest);
    return record;
  }
  return directory.empty() ? std::nullopt : read_task_record(directory);
}

std::string question_to_sweep(const CLI::App* command, const std::string& verb,
                              const std::string& name) {
  if (name.find('/') != std::string::npos)
    wrong_use("--name must be a file's name, not '{}'", name);
  std::string text = fmt::format("shellgame {} --sweep DIR --name {}", verb, name);
  for (const CLI::Option* option : command->get_options()) {
    const std::string key = option->get_name();
    if (option->count() == 0 || key == "--sweep" || key == "--name" || key == "--output" ||
        key == "--threads" || key == "--rows" || key == "--slice" || key == "--max-memory")
      continue;
    for (const std::string& value : option->results())
      text += option->get_items_expected_max() == 0 ? " " + key : fmt::format(" {} {}", key, value);
  }
  return text;
}

SharedData probed_data(const DataSpec& task, std::uint64_t length, std::uint64_t spacing) {
  DataSpec spec = task;
  const std::vector<std::string>& axes = find_data_kind(task.kind).axes;
  if (!axes.empty()) spec.settings[axes.front()] = fmt::format("{}", length);
  if (std::ranges::find(axes, "spacing") != axes.end())
    spec.settings["spacing"] = fmt::format("{}", spacing);
  return spec.make();
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
