// The commands of the learning part, one function each; the tool finds them through
// shellgame_learn_commands.
#pragma once

#include "shellgame/evaluate/cell.h"
#include "shellgame/models/model.h"
#include "shellgame/tool/learn_commands.h"

namespace shellgame {

// A directory's model on its device, in its precision.
Model open_model(const ModelPlace& place);

void run_describe(const DescribeOptions& options);
void run_logits(const LogitsOptions& options);
void run_generate(const GenerateOptions& options);
void run_convert(const ConvertOptions& options);
void run_new_model(const NewModelOptions& options);
void run_bench_model(const BenchModelOptions& options);
bool run_train(const TrainCommandOptions& options);
EvaluationReport run_evaluate(const EvaluateOptions& options);
void run_probe(const ProbeOptions& options);

}  // namespace shellgame
