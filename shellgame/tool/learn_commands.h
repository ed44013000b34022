// What the tool asks of the learning part, which lives in a library of its own
// (libshellgame_models.so) and is loaded when one of these commands runs: LibTorch takes most of a
// second to start, and other commands must not wait for it. Options are declared in the tool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shellgame {

struct ModelPlace {
  std::string directory;
  std::string device = "cpu";      // or cuda
  std::string precision = "fp32";  // fp64, bf16, fp16
  bool composed = false;           // plain Torch operations instead of our kernels
};

struct DescribeOptions {
  std::string directory, format = "text";
};

struct LogitsOptions {
  ModelPlace model;
  std::string ids, output;
  std::int64_t segment = 4096;  // tokens at once, with the state passed on
};

struct GenerateOptions {
  ModelPlace model;
  std::string prompt, prompt_file, tokenizer, format = "text";
  std::int64_t tokens = 64;
  double temperature = 0;  // 0: the most likely token
  std::int64_t top = 0;    // sample among so many; 0: among all
  std::uint64_t seed = 0;
};

struct ConvertOptions {
  std::string input, output, precision = "fp32";
  std::uint64_t max_shard_bytes = 5'000'000'000;
  bool lexemes = false;
};

struct NewModelOptions {
  std::string config, output, init = "fla";
  std::vector<std::string> settings;  // key=value
  std::uint64_t seed = 0;
  bool lexemes = false;
};

struct BenchModelOptions {
  std::vector<std::string> operations;  // of the part "kernels"; none: all
  std::vector<std::string> cases = {"a", "b", "c", "d"};
  std::vector<std::string> parts = {"kernels", "steps", "streaming", "evaluation"};
  int rounds = 3;
  std::int64_t stream_tokens = 1'000'000;
  std::string output = "-";
};

struct TrainCommandOptions {
  std::string experiment;  // a TOML file; may be empty where a run goes on
  std::vector<std::string> settings;
  std::string run, from, arm;
  std::vector<std::string> plugins;
  bool resume = false, quiet = false;
  int threads = 0;  // of the command line; 0: the experiment's
};
struct EvaluationReport;  // evaluate/cell.h
struct EvaluateOptions;   // tool/evaluate_options.h
struct ProbeOptions;      // tool/probe_options.h

struct LearnCommands {
  void (*describe)(const DescribeOptions&);
  void (*logits)(const LogitsOptions&);
  void (*generate)(const GenerateOptions&);
  void (*convert)(const ConvertOptions&);
  void (*new_model)(const NewModelOptions&);
  void (*bench_model)(const BenchModelOptions&);
  // False: interrupted, with a checkpoint.
  bool (*train)(const TrainCommandOptions&);
  EvaluationReport (*evaluate)(const EvaluateOptions&);
  void (*probe)(const ProbeOptions&);
  void (*load_plugins)(const std::vector<std::string>&);
};

// Loads the library at the first call. Throws Error if it is not there.
const LearnCommands& learn_commands();

}  // namespace shellgame
