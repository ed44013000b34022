// `shellgame verify FILE`: replays traces in a real CPython and counts mismatches.
#include "shellgame/tool/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/progress.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

struct VerifyOptions {
  std::string file, format = "text";
  ReplayOptions replay;
};

void run(const VerifyOptions& options) {
  const std::vector<TraceText> traces = read_traces(read_input(options.file), options.file);
  if (traces.empty()) fail("'{}' must hold at least one trace, and it holds none", options.file);
  Replay replay(options.replay);
  Progress progress("verifying", "traces", traces.size());
  for (const TraceText& trace : traces) {
    if (trace.forced)
      throw InputError(fmt::format("{}:{}", options.file, trace.line),
                       "a forced trace must come as JSON lines, which have its hidden numbers, not "
                       "as text");
    replay.add(trace.index, trace.text, trace.python_seed,
               trace.hidden_numbers ? &*trace.hidden_numbers : nullptr);
    progress.advance(1);
  }
  const ReplayReport report = replay.finish();
  if (report.examples == 0)
    fail("'{}' must hold at least one example ('>>> ...'), and it holds none", options.file);
  report_replay(report, options.format, ReplayPlace::kOutput);
}

}  // namespace

void report_replay(const ReplayReport& report, const std::string& format, ReplayPlace to) {
  const auto print = [to](const std::string& text) {
    if (to == ReplayPlace::kMessages) return say("{}", text);
    print_data(text + "\n");
  };
  const double rate = report.seconds > 0 ? static_cast<double>(report.traces) / report.seconds : 0;
  if (format == "json") {
    nlohmann::ordered_json json = {{"python", report.python_version},
                                   {"traces", report.traces},
                                   {"examples", report.examples},
                                   {"outputs", report.outputs},
                                   {"mismatches", report.mismatches},
                                   {"isolated_traces", report.isolated},
                                   {"protections", report.protections},
                                   {"doctest_traces", report.doctest_traces},
                                   {"doctest_failures", report.doctest_failures},
                                   {"disagreements", report.disagreements},
                                   {"seconds", report.seconds},
                                   {"traces_per_second", rate}};
    json["first_mismatches"] = nlohmann::ordered_json::array();
    for (const Mismatch& m : report.first) {
      json["first_mismatches"].push_back({{"trace", m.trace},
                                          {"line", m.line},
                                          {"source", m.source},
                                          {"expected", m.expected},
                                          {"got", m.got}});
    }
    print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    for (const Mismatch& m : report.first) {
      print(fmt::format("trace {}, line {}: {}\n  expected: {}\n  got:      {}", m.trace, m.line,
                        printable_lines(m.source), printable_lines(m.expected),
                        printable_lines(m.got)));
    }
    print(fmt::format(
        "CPython {}: {} traces, {} examples, {} outputs, {} mismatches; {:.0f} traces a second",
        printable(report.python_version), report.traces, report.examples, report.outputs,
        report.mismatches, rate));
    if (report.isolated > 0) {
      print(fmt::format(
          "{} of these traces are outside the trace language; each ran in a process of its own: {}",
          report.isolated,
          report.protections.empty() ? "limits only, the system offers no protection"
                                     : fmt::format("{}", fmt::join(report.protections, ", "))));
    }
    print(fmt::format("doctest: {} of these traces, {} failures, {} disagreements",
                      report.doctest_traces, report.doctest_failures, report.disagreements));
  }
  if (!report.passed()) {
    flush_output();
    if (report.first_disagreement)
      say("doctest and the replay differ on trace {}", *report.first_disagreement);
    fail("{} outputs differ from what CPython prints (doctest: {} failures, {} disagreements)",
         report.mismatches, report.doctest_failures, report.disagreements);
  }
}

void add_replay_options(CLI::App* command, ReplayOptions& replay) {
  command->add_option("--python", replay.python, "the interpreter that replays traces")
      ->type_name("PROGRAM")
      ->capture_default_str();
  add_number(command, "--doctest-every", replay.doctest_every, NumberBounds::whole(0, INT32_MAX),
             "doctest, as a second witness, checks every Nth trace; 0 for none");
}

void add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = add_command(
      app, "verify",
      "Replay traces in a real CPython and count outputs that differ. This runs the traces' code. "
      "Anything outside the trace language runs in a process of its own, with limits and whatever "
      "isolation the system offers (docs/traces.md); the report says which.",
      {"shellgame verify traces.jsonl", "shellgame verify session.txt --format json"},
      [options] { run(*options); });
  command->add_option("file", options->file, "text or JSON lines; - for standard input")
      ->type_name("FILE")
      ->required();
  add_replay_options(command, options->replay);
  add_number(command, "--time-limit", options->replay.time_limit,
             NumberBounds::real(kLeastTimeLimit, kMostTimeLimit),
             "for a trace that runs alone; a megabyte of text adds as much")
      ->type_name("SECONDS");
  add_number(command, "--memory-limit", options->replay.memory_limit,
             NumberBounds::whole(kLeastMemoryLimit, kMostMemoryLimit),
             "for each process of a trace that runs alone")
      ->type_name("MIB");
  add_words(command, "--format", options->format, {"text", "json"}, "the form of the report");
}

}  // namespace shellgame
