// What a replay does when its interpreter is missing, dies, hangs or is something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <thread>

#include "shellgame/replay/replay.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The error that a replay of good traces around this text ends in; the text is trace 42.
std::string failure_of(const std::string& text, const ReplayOptions& options) {
  return message_of([&] {
    Replay replay(options);
    for (std::uint64_t i = 0; i < 2000; ++i) replay.add(i, i == 42 ? text : ">>> 1\n1\n", {});
    replay.finish();
  });
}

TEST(ReplayFailure, NamesAMissingInterpreter) {
  ReplayOptions options;
  options.python = "/no/such/python";
  EXPECT_EQ(failure_of("", options), "cannot run '/no/such/python': No such file or directory");
}

TEST(ReplayFailure, RepeatsWhatTheInterpreterSaid) {
  const ScratchFolder folder;
  const std::string path = folder / "python";
  ReplayOptions options;
  options.python = path;
  const auto write_program = [&](const std::string& body) {
    write_file(path, "#!/bin/sh\n" + body);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  };
  write_program("echo 'no module named os' >&2; exit 3");
  EXPECT_EQ(failure_of("", options), "the interpreter '" + path +
                                         "' ended with exit code 3 at its start; it said: no "
                                         "module named os");
  write_program("exit 0");
  EXPECT_THAT(failure_of("", options), HasSubstr("exit code 0 at its start, without a word"));
  write_program("echo 'Hello, I am not what you expect'; exec sleep 100");
  EXPECT_THAT(failure_of("", options), HasSubstr("does not answer as the replay script does"));
  write_program("printf '\\3\\0\\0\\0\\0\\0\\0\\0yes'; exec sleep 100");
  EXPECT_THAT(failure_of("", options), HasSubstr("does not answer as the replay script does"));
  write_program("printf '\\100\\0\\0\\0\\0\\0\\0\\0shellgame r'");
  EXPECT_THAT(failure_of("", options), HasSubstr("ended with exit code 0 at its start"));
}

TEST(ReplayFailure, NamesTheTraceThatKilledTheInterpreter) {
  for (const int processes : {1, 3}) {
    ReplayOptions options;
    options.processes = processes;
    EXPECT_EQ(failure_of(">>> import os\n>>> os.kill(os.getpid(), 9)\n", options),
              "the interpreter 'python3' ended with signal 9 (Killed) in trace 42, without a word "
              "on standard error");
    EXPECT_THAT(
        failure_of(">>> import os, sys\n>>> n = sys.stderr.write('oh\\n')\n>>> os._exit(5)\n",
                   options),
        HasSubstr("ended with exit code 5 in trace 42; it said: oh"));
  }
}

TEST(ReplayFailure, NamesTheTraceThatHangs) {
  ReplayOptions options;
  options.seconds_per_batch = 1;
  options.doctest_every = 0;  // its import takes time too
  EXPECT_THAT(failure_of(">>> while True: pass\n", options),
              HasSubstr("gave no answer within 1 s in trace 42"));
  // Deep in C, where Python's own signal handlers do not run.
  EXPECT_THAT(failure_of(">>> a = 9 ** 9 ** 9\n", options), HasSubstr("within 1 s in trace 42"));
}

TEST(ReplayFailure, LeavesNoProcessBehind) {
  const auto start = std::chrono::steady_clock::now();
  {
    ReplayOptions options;
    options.processes = 2;
    Replay dropped(options);
    for (std::uint64_t i = 0; i < 600; ++i) dropped.add(i, ">>> while True: pass\n", {});
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // until they are at it
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ReplayFailure, ATraceWritesNoFile) {
  const ScratchFolder folder;
  write_file(folder / "data", "");
  Replay replay({});
  replay.add(1, ">>> f = open('" + folder / "data" + "', 'w', 1)\n>>> f.write('x\\n')\n2\n", {});
  const ReplayReport report = replay.finish();
  EXPECT_EQ(report.mismatches, 1u);
  EXPECT_THAT(report.first.at(0).got, HasSubstr("File too large"));
  EXPECT_EQ(read_file(folder / "data"), "");
}

TEST(ReplayFailure, RefusesWrongUse) {
  Replay replay({});
  EXPECT_THROW(replay.add(1, "", 1ull << 32), UsageError);
  replay.finish();
  EXPECT_THROW(replay.add(1, "", {}), UsageError);
  EXPECT_THROW(replay.finish(), UsageError);
  ReplayOptions options;
  options.processes = -1;
  EXPECT_THROW(Replay{options}, UsageError);
  options = {};
  options.seconds_per_batch = 0;
  EXPECT_THROW(Replay{options}, UsageError);
  options = {};
  options.keep_mismatches = 1000000;
  EXPECT_THROW(Replay{options}, UsageError);
}

}  // namespace
}  // namespace shellgame
