// Readable transcripts of seeded traces, compared byte for byte: text, lexemes, states, reveals and
// the belief before each, line by line. SHELLGAME_REWRITE_GOLDEN=1 writes them anew, to be reviewed
// by eye.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/replay/replay.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/traces/predictions.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

const std::string kFolder = SHELLGAME_SOURCE_DIR "/tests/golden/";

struct Transcript {
  const char* file;
  std::vector<std::pair<const char*, const char*>> keys;
};

const std::vector<Transcript> kTranscripts = {
    {"s5-permutations", {{"commands", "8"}, {"spacing", "4"}}},
    {"s3-swaps",
     {{"group", "S3"},
      {"moves", "swaps"},
      {"commands", "6"},
      {"spacing", "2"},
      {"initial-reveal", "one"}}},
    {"s3-asserts",
     {{"group", "S3"},
      {"moves", "swaps"},
      {"commands", "8"},
      {"spacing", "1"},
      {"reveal-forms", "print,equal,unequal,member"}}},
    {"a4xz5-generators",
     {{"group", "A4xZ5"},
      {"moves", "generators"},
      {"commands", "4"},
      {"spacing", "2"},
      {"reveals", "round-robin"},
      {"reveal-count", "2"}}},
    {"s4-full-reveals",
     {{"group", "S4"}, {"commands", "6"}, {"spacing", "2"}, {"full-reveal-period", "3"}}},
    {"s3-branching",
     {{"group", "S3"},
      {"moves", "swaps"},
      {"commands", "6"},
      {"spacing", "2"},
      {"uncertainty", "branching"}}},
    {"s3-slip",
     {{"group", "S3"},
      {"commands", "4"},
      {"spacing", "1"},
      {"uncertainty", "branching"},
      {"mixtures", "0.5 (1 2), 0.5 (1 3)"}}},
    {"s3-mixture",
     {{"group", "S3"},
      {"commands", "4"},
      {"spacing", "2"},
      {"uncertainty", "branching"},
      {"mixtures", "0.2 (1 2 3), 0.3 (), 0.5 (1 3)"}}},
    {"s4-environment",
     {{"group", "S4"},
      {"moves", "swaps"},
      {"commands", "4"},
      {"spacing", "2"},
      {"uncertainty", "branching"},
      {"condition", "environment"}}},
    {"s4-external",
     {{"group", "S4"},
      {"commands", "4"},
      {"spacing", "2"},
      {"uncertainty", "branching"},
      {"condition", "external"},
      {"otherwise", "move"}}},
    {"s4-skipped",
     {{"group", "S4"}, {"commands", "5"}, {"spacing", "2"}, {"uncertainty", "skipped"}}},
    {"s3-unknown-start",
     {{"group", "S3"},
      {"moves", "swaps"},
      {"commands", "4"},
      {"spacing", "1"},
      {"uncertainty", "unknown-start"},
      {"values", "red,green,blue"}}},
};

std::string transcript_of(const Transcript& transcript) {
  Task task;
  std::string out = "# Made by the test Golden.TranscriptsAreAsTheyWere; see CONTRIBUTING.md.\n";
  for (const auto& [name, value] : transcript.keys) {
    find_task_key(name)->set(task, value);
    out += fmt::format("# {} = {}\n", name, value);
  }
  const Sampler sampler(task);
  const TraceMaker maker(sampler);
  Trace trace;
  maker.make(7, 1, trace, true);
  out += maker.header(7, 1);

  const LexemeTokenizer tokenizer;
  const Program& program = trace.program;
  const Names& names = program.names();
  const auto beliefs = predictions(program, trace.reveals);
  std::uint64_t environment = 0;
  std::size_t tokens = 0, bytes = 0, commands = 0, reveal = 0;
  for (const Event& event : program.events()) {
    std::string text;
    render_event(program, event, environment, text);
    out += text;
    const auto ids = tokenizer.encode(text);
    out += fmt::format("    tokens {}..{}: {}\n", tokens, tokens + ids.size() - 1,
                       fmt::join(ids, " "));
    tokens += ids.size();
    bytes += text.size();
    if (is_command(event.kind)) {
      std::vector<std::string> values;
      for (std::size_t v = 0; v < names.size(); ++v)
        values.push_back(names.value(trace.states[commands * names.size() + v]).text);
      out += fmt::format("    state after command {}: {}\n", ++commands, fmt::join(values, " "));
    }
    for (; reveal < trace.reveals.size() && trace.reveals[reveal].offset < bytes; ++reveal) {
      const RevealMark& mark = trace.reveals[reveal];
      out += fmt::format("    reveals {} with {} at byte {}\n", names.variable(mark.variable),
                         names.value(mark.value).text, mark.offset);
      out += "    believed before:";
      for (std::size_t v = 0; v < names.size(); ++v) {
        if (beliefs[reveal][v] > 0)
          out += fmt::format(" {} {:.6g}", names.value(v).text, beliefs[reveal][v]);
      }
      out += '\n';
    }
  }
  return out;
}

TEST(Golden, TranscriptsAreAsTheyWere) {
  const bool rewrite = std::getenv("SHELLGAME_REWRITE_GOLDEN") != nullptr;
  for (const Transcript& transcript : kTranscripts) {
    const std::string path = kFolder + transcript.file + ".txt";
    const std::string now = transcript_of(transcript);
    if (rewrite) write_file(path, now);
    EXPECT_EQ(read_file(path), now) << path;
  }
}

TEST(Golden, ThePapersListingParsesVerifiesAndRoundTrips) {
  const std::string listing = read_file(kFolder + "paper-listing.txt");
  EXPECT_EQ(render(parse(listing, "paper-listing.txt")), listing);
  Replay replay{ReplayOptions{}};
  replay.add(0, listing, std::nullopt);
  const ReplayReport report = replay.finish();
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.outputs, 4u);
  EXPECT_EQ(report.doctest_traces, 1u);
}

// The uncertain transcripts too: their outputs are what CPython prints under the hidden seed.
TEST(Golden, TranscriptsReplayInCPython) {
  Replay replay{ReplayOptions{}};
  for (const Transcript& transcript : kTranscripts) {
    Task task;
    for (const auto& [name, value] : transcript.keys) find_task_key(name)->set(task, value);
    const Sampler sampler(task);
    const TraceMaker maker(sampler);
    Trace trace;
    for (std::uint64_t index = 0; index < 50; ++index) {
      maker.make(7, index, trace, false);
      replay.add(index, trace.text.view(), trace.python_seed);
    }
  }
  const ReplayReport report = replay.finish();
  EXPECT_EQ(report.mismatches, 0u);
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.traces, 50 * kTranscripts.size());
  EXPECT_EQ(report.isolated, 0u);  // our own traces are of the trace language
}

}  // namespace
}  // namespace shellgame
