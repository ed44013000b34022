// `shellgame model exact`: a model whose weights are written down from theory, as a Hugging Face
// directory. Needs no Torch.
#include <fmt/format.h>

#include "shellgame/episodes/task_record.h"
#include "shellgame/groups/group.h"
#include "shellgame/models/exact.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/python_number.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

struct KnownKind {
  const char* name;
  ExactKind kind;
};
constexpr KnownKind kKinds[] = {{"tracking", ExactKind::kTracking},
                                {"marginal", ExactKind::kMarginal},
                                {"conserving", ExactKind::kConserving},
                                {"log", ExactKind::kLog}};

struct Given {
  std::string group = "S5", moves = "permutations", kind = "tracking", activation = "identity",
              representation = "permutation", output;
  double probability = 0.5;
};

void run(const Given& given) {
  ExactOptions options;
  options.variables = parse_group(given.group).degree();
  for (const KnownKind& known : kKinds)
    if (given.kind == known.name) options.kind = known.kind;
  options.moves = given.moves == "swaps" ? ExactMoves::kSwaps : ExactMoves::kPermutations;
  options.representation = given.representation == "standard" ? ExactRepresentation::kStandard
                                                              : ExactRepresentation::kPermutation;
  options.silu = given.activation == "silu";
  options.probability = given.probability;
  const ExactModel model = exact_model(options);
  DataSpec task{.settings = {{"group", given.group}, {"moves", given.moves}}};
  if (options.kind == ExactKind::kMarginal) {
    task.settings["uncertainty"] = "branching";
    task.settings["probability"] = python_number(given.probability);
  }
  if (options.kind == ExactKind::kConserving) {
    task.settings["uncertainty"] = "branching";
    task.settings["probability"] = "0,0.1,0.5,1";
  }
  if (options.kind == ExactKind::kLog) task.settings["uncertainty"] = "unknown-start";
  write_exact_model(model, given.output, task_record_text({.data = task}));
  std::size_t parameters = 0;
  for (const ExactTensor& tensor : model.tensors) parameters += tensor.values.size();
  print_lines("{}: {}, {} variables, width {}, {} parameters\n", given.output,
              model.config.at("model_type").get<std::string>(), options.variables,
              model.config.at("hidden_size").get<int>(), parameters);
}

}  // namespace

void add_model_exact(CLI::App& model) {
  auto given = std::make_shared<Given>();
  CLI::App* command = add_command(
      model, "exact", "Write a model whose weights follow from theory and that makes no error.",
      {"shellgame model exact --group S5 --moves permutations --output exact-s5",
       "shellgame model exact --group S5 --moves swaps --representation standard --output standard",
       "shellgame model exact --group S4 --moves swaps --kind marginal --output marginal",
       "shellgame model exact --group S3 --moves swaps --kind conserving --output conserving"},
      [given] { run(*given); });
  command->add_option("--group", given->group, "the group; its degree is the number of variables")
      ->type_name("NAME")
      ->capture_default_str();
  add_words(command, "--moves", given->moves, {"swaps", "permutations"},
            "swaps: one reflection each; permutations: of all variables, and swaps, through slots");
  add_words(command, "--kind", given->kind, {"tracking", "marginal", "conserving", "log"},
            "tracking: the state; with moves swaps, marginal: the paper's matrix of (variable, "
            "value) under `if random() < p:`; conserving: one delta-rule head that keeps a "
            "certainty through maybe-swaps for ever; log: the exact belief of an unknown start, "
            "as logarithms");
  add_words(command, "--activation", given->activation, {"identity", "silu"},
            "qk_activation; silu always goes through slots");
  add_words(command, "--representation", given->representation, {"permutation", "standard"},
            "keys in n dimensions, or in n - 1 (moves swaps)");
  add_number(command, "--probability", given->probability, kShareBounds,
             "marginal: the p of `if random() < p:`")
      ->type_name("P");
  command->add_option("-o,--output", given->output, "the directory")->type_name("DIR")->required();
}

}  // namespace shellgame
