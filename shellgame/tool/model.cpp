// `shellgame model`: models as Hugging Face directories.
#include "shellgame/tool/command.h"
#include "shellgame/tool/learn_commands.h"
#include "shellgame/tool/plugins.h"

namespace shellgame {
namespace {

void add_directory(CLI::App* command, std::string& directory) {
  command->add_option("directory", directory, "a Hugging Face directory")
      ->type_name("DIR")
      ->required();
}

constexpr NumberBounds kTokenBounds = NumberBounds::whole(1, kMostSigned);

void add_place(CLI::App* command, ModelPlace& model) {
  add_directory(command, model.directory);
  add_words(command, "--device", model.device, {"cpu", "cuda"}, "where to compute");
  add_words(command, "--precision", model.precision, {"fp32", "fp64", "bf16", "fp16"},
            "the numbers to compute with (fp16 on a CPU needs LibTorch 2)");
  command->add_flag("--composed", model.composed,
                    "use plain Torch operations instead of shellgame's kernels");
}

// A command that runs a model, whose mixers may be of plug-ins.
CLI::App* add_command_of_models(CLI::App& model, const std::string& name,
                                const std::string& summary,
                                const std::vector<std::string>& examples,
                                const std::function<void()>& run) {
  const auto plugins = std::make_shared<std::vector<std::string>>();
  CLI::App* command = add_command(model, name, summary, examples, [plugins, run] {
    use_plugins(*plugins);
    run();
  });
  add_plugin_option(command, *plugins);
  return command;
}

void add_describe(CLI::App& model) {
  auto options = std::make_shared<DescribeOptions>();
  CLI::App* command =
      add_command_of_models(model, "describe", "Print layers, shapes, parameter count and memory.",
                            {"shellgame model describe tests/data/models/delta_net",
                             "shellgame model describe DIR --format json"},
                            [options] { learn_commands().describe(*options); });
  add_directory(command, options->directory);
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
}

void add_logits(CLI::App& model) {
  auto options = std::make_shared<LogitsOptions>();
  CLI::App* command = add_command_of_models(
      model, "logits", "Run token ids and write the logits, so that anyone can compare.",
      {"shellgame model logits DIR --ids ids.json --output logits.npy"},
      [options] { learn_commands().logits(*options); });
  add_place(command, options->model);
  command->add_option("--ids", options->ids, "a JSON list of lists of token ids, of equal length")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "NumPy's .npy: fp32 [sequence, token, vocabulary]")
      ->type_name("FILE")
      ->required();
  add_number(command, "--segment", options->segment, NumberBounds::whole(1, 1 << 24),
             "tokens at once; what the model remembers is passed on");
}

void add_generate(CLI::App& model) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = add_command_of_models(
      model, "generate", "Continue a text.",
      {"shellgame model generate DIR --prompt-file trace.txt --tokens 20",
       "shellgame model generate DIR --prompt '>>> a = ' --temperature 1 --seed 3"},
      [options] { learn_commands().generate(*options); });
  add_place(command, options->model);
  command->add_option("--prompt", options->prompt, "the text to continue")->type_name("TEXT");
  command->add_option("--prompt-file", options->prompt_file, "the same from a file, - for input")
      ->type_name("FILE");
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "lexeme, bytes, or a tokenizer.json; by default the directory's own, if any")
      ->type_name("NAME");
  add_number(command, "--tokens", options->tokens, kTokenBounds, "how many tokens to add");
  add_number(command, "--temperature", options->temperature, NumberBounds::real(0, 1e6),
             "0 takes the most likely token; above, tokens are drawn")
      ->type_name("X");
  add_number(command, "--top", options->top, NumberBounds::whole(0, kMostSigned),
             "draw among the N most likely tokens; 0: among all");
  add_number(command, "--seed", options->seed, kSeedBounds, "for drawing");
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the answer");
}

void add_convert(CLI::App& model, const std::string& name, const std::string& summary,
                 const std::vector<std::string>& examples) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = add_command_of_models(model, name, summary, examples,
                                            [options] { learn_commands().convert(*options); });
  add_directory(command, options->input);
  command->add_option("-o,--output", options->output, "the directory to write")
      ->type_name("DIR")
      ->required();
  add_words(command, "--precision", options->precision, {"fp32", "fp64", "bf16", "fp16"},
            "the numbers in the file");
  add_number(command, "--max-shard-bytes", options->max_shard_bytes,
             NumberBounds::whole(1, kMostSigned),
             "larger checkpoints are cut into files of this size");
  command->add_flag("--lexemes", options->lexemes, "also write the lexeme vocabulary's tokenizer");
}

void add_new(CLI::App& model) {
  auto options = std::make_shared<NewModelOptions>();
  CLI::App* command = add_command_of_models(
      model, "new", "Make a model with fresh weights.",
      {"shellgame model new --set model_type=delta_net --set hidden_size=64 --set num_heads=2 "
       "--set num_hidden_layers=2 --set vocab_size=90 --output DIR",
       "shellgame model new --config config.json --seed 3 --output DIR"},
      [options] { learn_commands().new_model(*options); });
  command->add_option("--config", options->config, "a config.json")->type_name("FILE");
  command->add_option("--set", options->settings, "a key of config.json; wins over --config")
      ->type_name("KEY=VALUE");
  command->add_option("-o,--output", options->output, "the directory to write")
      ->type_name("DIR")
      ->required();
  add_number(command, "--seed", options->seed, kSeedBounds, "for the weights");
  add_words(command, "--init", options->init, {"fla", "torch"},
            "how matrices start: N(0, initializer_range), or uniform by their width");
  command->add_flag("--lexemes", options->lexemes, "also write the lexeme vocabulary's tokenizer");
}

}  // namespace

void add_model(CLI::App& app) {
  CLI::App* command = add_command(
      app, "model", "Models as Hugging Face directories: make, describe, run, convert.",
      {"shellgame model describe DIR", "shellgame model exact --group S5 --output DIR"});
  command->require_subcommand(1);
  add_model_exact(*command);
  add_describe(*command);
  add_logits(*command);
  add_generate(*command);
  add_new(*command);
  add_convert(*command, "import",
              "Read a directory of flash-linear-attention or transformers, check it, and write it "
              "as one fp32 file.",
              {"shellgame model import DOWNLOADED --output DIR"});
  add_convert(*command, "export",
              "Write a model for other tools: another kind of number, shards, a tokenizer.",
              {"shellgame model export DIR --output OUT --precision bf16 --lexemes"});
}

void add_bench_model(CLI::App& bench) {
  auto options = std::make_shared<BenchModelOptions>();
  CLI::App* command = add_command(
      bench, "model",
      "Kernels against plain Torch operations, whole training steps, and streaming, beside the "
      "machine's GEMM peak.",
      {"shellgame bench model --output bench/results/model.json",
       "shellgame bench model --parts steps --cases a,b"},
      [options] { learn_commands().bench_model(*options); });
  command->add_option("--parts", options->parts, "kernels, steps, streaming, evaluation")
      ->delimiter(',')
      ->check(CLI::IsMember({"kernels", "steps", "streaming", "evaluation"}))
      ->capture_default_str();
  command
      ->add_option("--operations", options->operations,
                   "kernels of these names only, such as linear_add,rope; by default all")
      ->type_name("NAMES")
      ->delimiter(',');
  command->add_option("--cases", options->cases, "training steps of these sizes")
      ->delimiter(',')
      ->check(CLI::IsMember({"a", "b", "c", "d"}))
      ->capture_default_str();
  add_number(command, "--rounds", options->rounds, NumberBounds::whole(1, 10'000),
             "rounds in which all things take turns");
  add_number(command, "--stream-tokens", options->stream_tokens,
             NumberBounds::whole(1000, 1'000'000'000'000), "how far streaming is measured");
  command->add_option("-o,--output", options->output, "a JSON file, or - for standard output")
      ->type_name("PATH")
      ->capture_default_str();
}

}  // namespace shellgame
