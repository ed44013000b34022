#include "shellgame/traces/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

TEST(Trace, JsonLineHasTheFieldsAndOffsets) {
  Task task;
  task.reveal_forms = {RevealForm::kPrint, RevealForm::kEqual, RevealForm::kMember};
  task.branching = true;
  const Sampler sampler(task);
  const TraceMaker maker(sampler);
  Trace trace;
  std::string line;
  maker.make(1, 42, trace, true);
  maker.append_json(trace, line);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["index"], 42);
  EXPECT_EQ(json["generator"], kGeneratorVersion);
  EXPECT_EQ(json["python_seed"], Sampler::python_seed(1, 42));
  EXPECT_EQ(json["states"].size(), 64u);
  const std::string text = json["text"];
  ASSERT_GE(json["reveals"].size(), 8u);
  for (const auto& reveal : json["reveals"]) {
    const std::string value = std::to_string(reveal["value"].get<int>());
    EXPECT_EQ(text.substr(reveal["offset"], value.size()), value);
    const std::size_t command = reveal["command"];
    EXPECT_EQ(command % 8, 0u);
    const auto state = json["states"][command - 1];
    const std::size_t variable =
        static_cast<std::size_t>(reveal["variable"].get<std::string>()[0] - 'a');
    if (!reveal.contains("form") || reveal["form"] == "==") {
      EXPECT_EQ(state[variable], reveal["value"]);
    }
  }
}

TEST(ReadTraces, ReadsWhatIsWritten) {
  const Sampler sampler{Task()};
  const TraceMaker maker(sampler);
  Trace trace;
  std::string jsonl, text;
  for (std::uint64_t index = 5; index < 8; ++index) {
    maker.make(1, index, trace, true);
    maker.append_json(trace, jsonl);
    if (index > 5) text += "\n";
    text += maker.header(1, index);
    text += trace.text.view();
  }
  for (const std::string& content : {jsonl, text}) {
    const auto traces = read_traces(content, "f");
    ASSERT_EQ(traces.size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) {
      maker.make(1, 5 + i, trace, false);
      EXPECT_EQ(traces[i].index, 5 + i);
      EXPECT_EQ(traces[i].text, trace.text.view());
    }
  }
}

TEST(ReadTraces, HeaderGivesThePythonSeed) {
  const auto traces = read_traces(
      "# shellgame trace: generator 1, seed 0, index 3, python_seed 77\n>>> a = 1\n", "f");
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].index, 3u);
  EXPECT_EQ(traces[0].python_seed, 77u);
  EXPECT_EQ(traces[0].text, ">>> a = 1\n");
  EXPECT_EQ(traces[0].line, 2u);
}

TEST(ReadTraces, WrongLinesAreNamed) {
  EXPECT_THROW(read_traces("{\"text\": 5}\n", "f"), InputError);
  EXPECT_THROW(read_traces("{\"text\": \"\"}\n{\n", "f"), InputError);
  EXPECT_THROW(read_traces("{\"text\": \"\", \"python_seed\": -1}\n", "f"), InputError);
}

}  // namespace
}  // namespace shellgame
