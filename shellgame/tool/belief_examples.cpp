// `shellgame belief examples`: the paper's worked examples beside our numbers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "shellgame/paper/examples.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

void print_examples(const std::string& format) {
  Json all = Json::array();
  std::string text;
  std::size_t wrong = 0;
  for (const WorkedExample& example : paper_examples()) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", example.title);
    Json lines = Json::array();
    for (const ExampleLine& line : example.lines) {
      const bool slip = !line.agrees && !line.note.empty();
      wrong += !line.agrees && !slip ? 1 : 0;
      text += fmt::format("  {}\n    ours   {}\n", line.what, line.ours);
      if (!line.paper.empty()) {
        text += fmt::format("    paper  {}{}\n", line.paper,
                            line.agrees ? ""
                            : slip      ? "   (differs)"
                                        : "   DIFFERS");
      }
      if (!line.note.empty()) text += fmt::format("    note   {}\n", line.note);
      lines.push_back({{"what", line.what},
                       {"ours", line.ours},
                       {"paper", line.paper},
                       {"agrees", line.agrees},
                       {"note", line.note}});
    }
    all.push_back({{"name", example.name}, {"title", example.title}, {"lines", lines}});
  }
  print_data(format == "json" ? all.dump(2) + "\n" : text);
  if (wrong > 0) fail("{} numbers differ from the paper's without a reason", wrong);
}

}  // namespace

void add_belief_examples(CLI::App& belief) {
  auto format = std::make_shared<std::string>("text");
  CLI::App* command =
      add_command(belief, "examples",
                  "The paper's worked examples, our numbers beside its own, and its slips by name.",
                  {"shellgame belief examples"}, [format] { print_examples(*format); });
  add_words(command, "--format", *format, {"text", "json"}, "the form of the output");
}

}  // namespace shellgame
