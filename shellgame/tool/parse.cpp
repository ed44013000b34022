// `shellgame parse FILE`: reads traces that anyone typed, and prints what they mean.
#include "shellgame/programs/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/programs/execute.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/traces/trace.h"

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

std::size_t commands_before(const Program& program, std::size_t event) {
  const auto& events = program.events();
  return static_cast<std::size_t>(std::count_if(events.begin(),
                                                events.begin() + static_cast<std::ptrdiff_t>(event),
                                                [](const Event& e) { return is_command(e.kind); }));
}

// "213 231 132"; with commas inside a state where a value has more than one character.
std::string states_text(const Program& program, const Execution& execution) {
  const Names& names = program.names();
  bool commas = false;
  for (std::size_t v = 0; v < names.size(); ++v) commas = commas || names.value(v).text.size() > 1;
  std::string text;
  for (const State& state : execution.states) {
    if (!text.empty()) text += ' ';
    for (std::size_t v = 0; v < state.size(); ++v) {
      if (commas && v > 0) text += ',';
      text += names.value(state[v]).text;
    }
  }
  return text;
}

void run(const ParseOptions& options) {
  const std::string content = read_input(options.file);
  const std::vector<TraceText> traces = read_traces(content, options.file);
  if (traces.empty()) fail("'{}' must hold at least one trace, and it holds none", options.file);
  const bool json = content.starts_with('{');
  for (const TraceText& trace : traces) {
    const Program program =
        json ? parse(trace.text, fmt::format("{}, trace {}", options.file, trace.index))
             : parse_part(trace, options.file);
    std::vector<RevealMark> marks;
    const std::string text = render(program, &marks);
    // Without the seed of its hidden numbers, an uncertain trace has no states that anyone could
    // know.
    const bool hidden = is_uncertain(program) && !trace.python_seed;
    const auto seed = static_cast<std::uint32_t>(trace.python_seed.value_or(0));
    const Execution execution = execute(program, seed);
    if (execution.contradiction && !hidden) {
      fail("{}: trace {} contradicts itself: what it shows after {} commands is not what they give",
           options.file, trace.index, commands_before(program, *execution.contradiction));
    }
    if (options.format == "jsonl") {
      std::vector<ValueId> states;
      for (const State& state : execution.states)
        states.insert(states.end(), state.begin(), state.end());
      std::string line;
      append_json_line(program, text, marks, hidden ? std::span<const ValueId>() : states,
                       trace.index, trace.python_seed ? std::optional(seed) : std::nullopt,
                       std::nullopt, line);
      print_data(line);
      continue;
    }
    // Comments stand before a trace: after it they would be output.
    print_data(fmt::format(
        "{}# shellgame trace: read from {}, index {}{}\n# states: {}\n",
        &trace != &traces.front() ? "\n" : "", printable(options.file), trace.index,
        trace.python_seed ? fmt::format(", python_seed {}", seed) : "",
        hidden ? "hidden (no python_seed is given)" : printable(states_text(program, execution))));
    print_data(text);
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
