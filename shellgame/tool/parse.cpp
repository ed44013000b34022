// `shellgame parse FILE`: reads traces that anyone typed, and prints what they mean.
#include "shellgame/programs/parse.h"

#include <fmt/format.h>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/trace.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

struct ParseOptions {
  std::string file, format = "text";
};

// An error inside a trace that begins somewhere in the file: the line counts from the file's start.
Program parse_part(const TraceText& trace, const std::string& file) {
  // Blank lines stand for what comes before, so that places are those of the file.
  return parse(std::string(trace.line - 1, '\n') + trace.text, file);
}

void run(const ParseOptions& options) {
  const std::string content = read_file(options.file);
  const std::vector<TraceText> traces = read_traces(content, options.file);
  if (traces.empty()) fail("'{}' must hold at least one trace, and it holds none", options.file);
  const bool json = content.starts_with('{');
  for (const TraceText& trace : traces) {
    const Program program =
        json ? parse(trace.text, fmt::format("{}, trace {}", options.file, trace.index))
             : parse_part(trace, options.file);
    std::vector<RevealMark> marks;
    const std::string text = render(program, &marks);
    const auto seed = static_cast<std::uint32_t>(trace.python_seed.value_or(0));
    const Execution execution = execute(program, seed);
    if (execution.contradiction && (trace.python_seed || !is_uncertain(program))) {
      fail(
          "{}: trace {} contradicts itself at event {}: what it shows is not what its commands "
          "give",
          options.file, trace.index, *execution.contradiction);
    }
    if (options.format == "jsonl") {
      std::vector<ValueId> states;
      for (const State& state : execution.states)
        states.insert(states.end(), state.begin(), state.end());
      std::string line;
      append_json_line(program, text, marks, states, trace.index,
                       trace.python_seed ? std::optional(seed) : std::nullopt, std::nullopt, line);
      fmt::print("{}", line);
      continue;
    }
    fmt::print("{}", text);
    if (is_uncertain(program) && !trace.python_seed) {
      fmt::print("# states: hidden (no python_seed is given)\n");
      continue;
    }
    fmt::print("# states:");
    for (const State& state : execution.states) {
      fmt::print(" ");
      for (std::size_t v = 0; v < state.size(); ++v) {
        fmt::print("{}{}", v > 0 && state.size() > 9 ? "," : "",
                   program.names().value(state[v]).text);
      }
    }
    fmt::print("\n\n");
  }
}

}  // namespace

void add_parse(CLI::App& app) {
  auto options = std::make_shared<ParseOptions>();
  CLI::App* command = add_command(
      app, "parse",
      "Read traces that a person typed; print them in canonical form, with their states.",
      {"shellgame parse session.txt", "shellgame parse session.txt --format jsonl",
       "shellgame parse -"},
      [options] { run(*options); });
  command->add_option("file", options->file, "text or JSON lines; - for standard input")
      ->type_name("FILE")
      ->required();
  add_words(command, "--format", options->format, {"text", "jsonl"}, "the form of the answer");
}

}  // namespace shellgame
