// What a replay does when its interpreter is missing, dies, hangs or is something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <limits>
#include <thread>

#include "shellgame/replay/replay.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
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

// The error that a replay of good traces ends in. Traces of the trace language share one
// interpreter, others have another one.
std::string failure_of(const std::string& text, const ReplayOptions& options) {
  return message_of([&] {
    Replay replay(options);
    for (std::uint64_t i = 0; i < 2000; ++i) replay.add(i, text, {});
    replay.finish();
  });
}

constexpr char kPlain[] = ">>> a = 1\n>>> print('a', a)\na 1\n";
constexpr char kForeign[] = ">>> 1\n1\n";

TEST(ReplayFailure, NamesAMissingInterpreter) {
  ReplayOptions options;
  options.python = "/no/such/python";
  for (const char* text : {kPlain, kForeign})
    EXPECT_EQ(failure_of(text, options), "cannot run '/no/such/python': No such file or directory");
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
  for (const char* text : {kPlain, kForeign}) {
    write_program("echo 'no module named os' >&2; exit 3");
    EXPECT_EQ(failure_of(text, options), "the interpreter '" + path +
                                             "' ended with exit code 3 at its start; it said: no "
                                             "module named os");
    write_program("exit 0");
    EXPECT_THAT(failure_of(text, options), HasSubstr("exit code 0 at its start, without a word"));
    write_program("echo 'Hello, I am not what you expect'; exec sleep 100");
    EXPECT_THAT(failure_of(text, options), HasSubstr("does not answer as the replay script does"));
    write_program("printf '\\3\\0\\0\\0\\0\\0\\0\\0yes'; exec sleep 100");
    EXPECT_THAT(failure_of(text, options), HasSubstr("does not answer as the replay script does"));
    write_program("printf '\\100\\0\\0\\0\\0\\0\\0\\0shellgame r'");
    EXPECT_THAT(failure_of(text, options), HasSubstr("ended with exit code 0 at its start"));
  }
}

TEST(ReplayFailure, LeavesNoProcessBehind) {
  const auto start = std::chrono::steady_clock::now();
  {
    ReplayOptions options;
    options.processes = 2;
    Replay dropped(options);
    for (std::uint64_t i = 0; i < 10; ++i) dropped.add(i, ">>> while True: pass\n", {});
    std::this_thread::sleep_for(std::chrono::milliseconds(700));  // until they are at it
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
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
  options.time_limit = 0;
  EXPECT_THROW(Replay{options}, UsageError);
  options.time_limit = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Replay{options}, UsageError);
  options = {};
  options.memory_limit = 1;
  EXPECT_THROW(Replay{options}, UsageError);
  options = {};
  options.keep_mismatches = 1000000;
  EXPECT_THROW(Replay{options}, UsageError);
}

}  // namespace
}  // namespace shellgame
