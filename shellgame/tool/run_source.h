// Where a command that looks at a model takes it from: a run, with its task, or a directory.
#pragma once

#include <optional>
#include <string>

#include "shellgame/tool/command.h"
#include "shellgame/tool/learn_commands.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

// Either `run` or model.directory must be given; of a run, sets the other and, where the model has
// none of its own, the tokenizer. Throws UsageError or Error.
std::optional<Experiment> open_run(const std::string& run, ModelPlace& model,
                                   std::string& tokenizer);

// What the model of a run or of a directory is for; nothing where it does not say. A note says
// where a task was taken from.
std::optional<TaskRecord> task_of_model(const Experiment* run, const std::string& directory);

// What a run was trained on, so long (`length`: of its first axis) and with this spacing, if it has
// one, for probes. Throws UsageError.
SharedData probed_data(const DataSpec& task, std::uint64_t length, std::uint64_t spacing);

// The options by which a command takes a model (--run, --model, --tokenizer, --device,
// --precision).
void add_model_options(CLI::App* command, std::string& run, ModelPlace& model,
                       std::string& tokenizer, const std::vector<std::string>& precisions);
// --format and --output.
void add_answer_options(CLI::App* command, std::string& format, std::string& output);

// What is asked of every run of a sweep, as a record: the command without the places on this
// machine that are the reader's choice. Throws UsageError for a name that is no file's.
std::string question_to_sweep(const CLI::App* command, const std::string& verb,
                              const std::string& name);

}  // namespace shellgame
