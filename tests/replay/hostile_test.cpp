// Traces that attack the verifier, their neighbours or the machine: each must get a clear verdict,
// and change no other one. Every trick is tried with all protection and as on systems that refuse
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shellgame/replay/replay.h"
#include "shellgame/system/files.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kHostile = 3;
constexpr char kRight[] = ">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 2\n";
constexpr char kWrong[] = ">>> a = 1\n>>> b = 2\n>>> a, b = b, a\n>>> print('a', a)\na 1\n";
constexpr char kOddRight[] =
    ">>> from random import random, seed\n>>> 1 + 1\n2\n>>> random() < 1\nTrue\n";
constexpr char kOddWrong[] = ">>> 1 + 1\n3\n";

class Hostile : public testing::TestWithParam<Protection> {
 protected:
  Hostile() {
    options_.protection = GetParam();
    options_.processes = 1;  // all by the same watchman
    options_.time_limit = 30;
  }

  // A file of twelve traces: the hostile one, good and wrong ones around it, of both kinds.
  ReplayReport verify(const std::string& hostile) {
    Replay replay(options_);
    const std::vector<std::string> texts{kRight,    kOddRight, kWrong,    hostile,
                                         kOddRight, kWrong,    kOddRight, kRight,
                                         kOddWrong, kOddRight, kRight,    kRight};
    for (std::size_t i = 0; i < texts.size(); ++i) replay.add(i, texts[i], i);
    return replay.finish();
  }

  // The hostile trace's own mismatches, as what it "got"; all others must be as they should.
  std::vector<std::string> verdict_on(const std::string& hostile) {
    const ReplayReport report = verify(hostile);
    std::vector<std::string> own;
    std::vector<std::uint64_t> others;
    for (const Mismatch& m : report.first) {
      if (m.trace == kHostile) {
        own.push_back(m.got);
      } else {
        others.push_back(m.trace);
        EXPECT_EQ(m.got, m.trace == 8 ? "2" : "a 2");
      }
    }
    EXPECT_THAT(others, ElementsAre(2, 5, 8)) << hostile;
    EXPECT_EQ(report.traces, 12u);
    EXPECT_EQ(report.mismatches, 3 + own.size());
    EXPECT_EQ(report.disagreements, 0u);
    EXPECT_EQ(report.isolated, 6u);
    return own;
  }

  bool limits_only() const { return GetParam() == Protection::kLimitsOnly; }

  ReplayOptions options_;
};

TEST_P(Hostile, CannotForgeAVerdict) {
  EXPECT_THAT(verdict_on(">>> import __main__\n>>> __main__.replay = lambda *a: (0, [])\n"
                         ">>> __main__.play = __main__.judge = lambda *a: None\n"),
              IsEmpty());
  EXPECT_THAT(verdict_on(">>> import builtins\n>>> builtins.print = lambda *a: None\n"
                         ">>> builtins.exec = None\n>>> 5\n6\n"),
              ElementsAre("5"));
  EXPECT_THAT(verdict_on(">>> import random\n>>> random.seed = random.random = lambda *a: 7\n"),
              IsEmpty());
  EXPECT_THAT(verdict_on(">>> import sys, io\n>>> sys.stdout = io.StringIO()\n>>> print(1)\n1\n"),
              ElementsAre(""));
}

TEST_P(Hostile, CannotSpeakForOthers) {
  // Frames of the protocol, old and new, into every descriptor that may be there.
  EXPECT_THAT(
      verdict_on(">>> import os\n>>> def shout(data):\n...     for d in range(3, 64):\n"
                 "...         try: n = os.write(d, data)\n...         except OSError: pass\n"
                 "...\n>>> shout(bytes([60, 0, 0, 0, 0, 0, 0, 0]) + bytes(60))\n>>> 1\n1\n"),
      ElementsAre("[the session wrote over its own results]"));
  EXPECT_THAT(verdict_on(">>> import os\n>>> os.closerange(0, 100)\n>>> 1\n1\n"),
              ElementsAre("[the session ended with exit code 70]"));
  // A second copy of the session goes on with it. (Root cannot be kept from more: it gets none.)
  EXPECT_THAT(verdict_on(">>> import os\n>>> n = os.fork()\n>>> 1\n1\n"),
              AnyOf(IsEmpty(), ElementsAre(HasSubstr("PermissionError"))));
}

TEST_P(Hostile, EndsItsOwnSessionOnly) {
  EXPECT_THAT(verdict_on(">>> import os\n>>> os._exit(0)\n>>> 1\n1\n"),
              ElementsAre("[the session ended with exit code 0]"));
  EXPECT_THAT(verdict_on(">>> raise SystemExit(3)\n>>> 1\n1\n"), ElementsAre("SystemExit: 3"));
  EXPECT_THAT(verdict_on(">>> raise KeyboardInterrupt\n>>> 1\n1\n"),
              ElementsAre("KeyboardInterrupt"));
  EXPECT_THAT(verdict_on(">>> import os\n>>> os.kill(os.getpid(), 9)\n"),
              ElementsAre("[the session was killed by signal 9 (Killed)]"));
  EXPECT_THAT(verdict_on(">>> import ctypes\n>>> ctypes.string_at(0)\n"),
              ElementsAre("[the session was killed by signal 11 (Segmentation fault)]"));
  const std::vector<std::string> killed =
      verdict_on(">>> import os\n>>> os.kill(os.getppid(), 9)\n");
  EXPECT_THAT(killed, ElementsAre(limits_only() ? HasSubstr("[lost: the process that watches")
                                                : HasSubstr("PermissionError")));
}

TEST_P(Hostile, MeetsItsLimits) {
  options_.time_limit = 1;
  EXPECT_THAT(verdict_on(">>> import time\n>>> time.sleep(1e6)\n>>> 1\n2\n"),
              ElementsAre("[stopped: the session took longer than 1 s]"));
  // Deep in C, where Python's own signal handlers do not run.
  EXPECT_THAT(verdict_on(">>> a = 9 ** 9 ** 9\n"),
              ElementsAre("[stopped: the session took longer than 1 s]"));
  options_.time_limit = 30;
  EXPECT_THAT(verdict_on(">>> a = b'x' * (100 << 30)\n"), ElementsAre("MemoryError"));
  EXPECT_THAT(verdict_on(">>> while True: print('x' * 1000000)\n"),
              ElementsAre("[stopped: the session printed more than 16 MiB]"));
  EXPECT_THAT(verdict_on(">>> import os\n>>> while True: n = os.write(3, bytes(65536))\n"),
              ElementsAre(HasSubstr("[")));
  options_.memory_limit = 128;
  EXPECT_THAT(verdict_on(">>> a = bytearray(200 << 20)\n"), ElementsAre("MemoryError"));
  // Which limit ends it, and which exception says so, is a matter of the interpreter's version and
  // of where memory ends.
  options_.time_limit = 2;
  EXPECT_THAT(verdict_on(">>> import sys\n>>> sys.setrecursionlimit(10**9)\n"
                         ">>> f = lambda: f()\n>>> f()\n"),
              ElementsAre(AnyOf(HasSubstr("["), HasSubstr("Error"))));
}

TEST_P(Hostile, WritesNoFile) {
  const ScratchFolder folder;
  write_file(folder / "data", "");
  const std::vector<std::string> got = verdict_on(
      ">>> def fill(path):\n...     with open(path, 'wb', 0) as f:\n"
      "...         while f.write(bytes(1 << 20)): pass\n...\n>>> fill('" +
      folder / "data" + "')\n>>> fill('here')\n");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_THAT(got[0], AnyOf(HasSubstr("File too large"), HasSubstr("Read-only file system"),
                            HasSubstr("Permission denied")));
  EXPECT_THAT(got[1], HasSubstr("File too large"));
  EXPECT_EQ(read_file(folder / "data"), "");
}

// Whether a process with this word in its command line is there.
bool is_running(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(word) != std::string::npos && line.starts_with("sleep")) return true;
  }
  return false;
}

TEST_P(Hostile, LeavesNobodyBehind) {
  const std::string word = "31" + std::to_string(::getpid()) + "77";
  EXPECT_THAT(verdict_on(">>> import os\n>>> def hide():\n...     if os.fork() == 0:\n"
                         "...         os.setsid()\n...         if os.fork() == 0:\n"
                         "...             os.execv('/bin/sleep', ['sleep', '" +
                         word +
                         "'])\n...         os._exit(0)\n...     os.wait()\n...\n"
                         ">>> hide()\n"),
              AnyOf(IsEmpty(), ElementsAre(HasSubstr("PermissionError"))));
  EXPECT_FALSE(is_running(word));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_P(Hostile, CannotFillTheTableOfProcesses) {
  if (limits_only() && ::getuid() == 0) GTEST_SKIP() << "nothing but rights binds root";
  options_.time_limit = 2;
  EXPECT_THAT(verdict_on(">>> import os\n>>> while True:\n...     try: n = os.fork()\n"
                         "...     except OSError: pass\n"),
              ElementsAre("[stopped: the session took longer than 2 s]"));
}

TEST_P(Hostile, SeesAnEmptyFolderAndABareEnvironment) {
  const ScratchFolder folder;
  ::setenv("SHELLGAME_TEST_SECRET", "the password", 1);
  const char* before = ::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  // A tree deeper than any path can say, and folders that nobody may enter.
  const std::string tree =
      ">>> import os\n>>> os.listdir('.')\n[]\n>>> os.mkdir('shut', 0)\n>>> def dig():\n"
      "...     for i in range(500):\n...         os.mkdir('d' * 10)\n...         os.chdir('d' * "
      "10)\n"
      "...     os.chmod('.', 0)\n...\n>>> dig()\n";
  Replay replay(options_);
  replay.add(0, tree, {});
  replay.add(1, tree, {});
  replay.add(2,
             ">>> import os\n>>> sorted(set(os.environ) - {'LD_LIBRARY_PATH'})\n['LANG', 'PATH']\n"
             ">>> def look():\n...     try: return b'password' in open('/proc/self/environ', "
             "'rb').read()\n...     except OSError: return False\n...\n>>> look()\nFalse\n"
             ">>> def is_open(d):\n...     try: return os.fstat(d) is not None\n"
             "...     except OSError: return False\n...\n"
             ">>> [d for d in range(1000) if is_open(d)]\n[0, 1, 2, 3]\n"
             ">>> import sys\n>>> sys.stdin.read()\n''\n",
             {});
  const ReplayReport report = replay.finish();
  ::unsetenv("SHELLGAME_TEST_SECRET");
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  for (const Mismatch& m : report.first) {
    ADD_FAILURE() << "trace " << m.trace << ": " << m.source << "\ngot: " << m.got;
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST_P(Hostile, ReachesNoNetworkAndNoOtherProcess) {
  if (limits_only()) GTEST_SKIP() << "the system refuses";
  EXPECT_THAT(verdict_on(">>> import socket\n>>> s = socket.create_server(('127.0.0.1', 0))\n"),
              ElementsAre(HasSubstr("PermissionError")));
  EXPECT_THAT(verdict_on(">>> import os\n>>> os.kill(" + std::to_string(::getpid()) + ", 0)\n"),
              ElementsAre(AnyOf(HasSubstr("PermissionError"), HasSubstr("ProcessLookupError"))));
  EXPECT_THAT(verdict_on(">>> import os\n>>> f = open('/proc/%d/mem' % os.getppid(), 'r+b', 0)\n"),
              ElementsAre(HasSubstr("Error")));
}

TEST_P(Hostile, SaysWhichProtectionsAreInForce) {
  const ReplayReport report = verify(kRight);
  if (limits_only()) {
    EXPECT_THAT(report.protections, IsEmpty());
  } else {
    EXPECT_THAT(report.protections, Not(IsEmpty()));
    if (GetParam() == Protection::kNoNamespaces) {
      EXPECT_THAT(report.protections, Not(Contains("process numbers of its own")));
    }
  }
}

TEST_P(Hostile, IsJudgedTheSameByAnyNumberOfProcesses) {
  options_.time_limit = 20;
  const std::string exit = ">>> import os\n>>> os._exit(4)\n";
  std::vector<std::vector<Mismatch>> all;
  for (const int processes : {1, 3}) {
    options_.processes = processes;
    options_.keep_mismatches = 100;
    Replay replay(options_);
    for (std::uint64_t i = 0; i < 60; ++i) {
      replay.add(i, i % 7 == 0 ? exit : i % 5 == 0 ? kOddWrong : i % 3 == 0 ? kWrong : kRight, {});
    }
    all.push_back(replay.finish().first);
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0].size(), 33u);
  EXPECT_TRUE(std::ranges::is_sorted(all[0], {}, &Mismatch::trace));
}

INSTANTIATE_TEST_SUITE_P(Systems, Hostile,
                         testing::Values(Protection::kAll, Protection::kNoNamespaces,
                                         Protection::kLimitsOnly),
                         [](const auto& system) {
                           return std::string(system.param == Protection::kAll ? "WithAll"
                                              : system.param == Protection::kNoNamespaces
                                                  ? "WithoutNamespaces"
                                                  : "WithLimitsOnly");
                         });

}  // namespace
}  // namespace shellgame
