// Where a command that looks at a model takes it from: a run, with its task, or a directory.
#pragma once

#include <optional>
#include <string>

#include "shellgame/sequences/sequence_spec.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/learn_commands.h"
#include "shellgame/train/experiment.h"

namespace shellgame {

// Either `run` or model.directory must be given; of a run, sets the other and, where the model has
// none of its own, the tokenizer. Throws UsageError or Error.
std::optional<Experiment> open_run(const std::string& run, ModelPlace& model,
                                   std::string& tokenizer);

// The task of the run (null: the usual one) with the options over it; of a curriculum its last
// stage, for that is what it leads to.
Task trace_task(const TaskOptions& options, const Experiment* run);

// The word problem that a run was trained on, its last stage's, with words of `length` elements.
// Throws UsageError, with the name `run`, for a run of traces or of other sequences.
SequenceSpec trained_words(const Experiment& experiment, const std::string& run,
                           std::uint64_t length);

// What a run was trained on, with so many commands (of a word problem: elements) and this spacing,
// for probes. Throws UsageError for what they cannot read.
SharedData probed_data(const Experiment& experiment, const std::string& run, std::uint64_t commands,
                       std::uint64_t spacing);

// The options by which a command takes a model (--run, --model, --tokenizer, --device,
// --precision).
void add_model_options(CLI::App* command, std::string& run, ModelPlace& model,
                       std::string& tokenizer, const std::vector<std::string>& precisions);
// --format and --output.
void add_answer_options(CLI::App* command, std::string& format, std::string& output);

}  // namespace shellgame
