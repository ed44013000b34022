#include "shellgame/system/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds kLong(20000);

// Sends it all, reads until the child closes its output.
std::string talk(Process& process, std::string_view unsent) {
  std::string received;
  while (process.exchange(unsent, received, kLong)) {
  }
  return received;
}

TEST(Process, TakesAndGivesBytesAndTellsTheExitCode) {
  Process process({"sh", "-c", "read line; echo got $line; echo trouble >&2; exit 7"});
  EXPECT_EQ(talk(process, "some words\n"), "got some words\n");
  EXPECT_EQ(process.end(kLong), "exit code 7");
  EXPECT_EQ(process.end(kLong), "exit code 7");
  EXPECT_EQ(process.errors(), "trouble\n");
}

TEST(Process, MovesMoreThanThePipesHoldBothWays) {
  std::string data(10 << 20, ' ');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * i >> 8);
  Process process({"head", "-c", std::to_string(data.size())});
  EXPECT_TRUE(talk(process, data) == data);
  EXPECT_EQ(process.end(kLong), "exit code 0");
}

TEST(Process, TellsThatThereIsNoSuchProgram) {
  try {
    Process process({"/no/such/program"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot run '/no/such/program': No such file or directory");
  }
  EXPECT_THROW(Process({"/etc/passwd"}), Error);
  EXPECT_THROW(Process({}), UsageError);
}

TEST(Process, AProgramIsFoundWhereThePathHasItFirst) {
  const ScratchFolder folder;
  const std::string own = folder / "sh";
  write_file(own, "#!/bin/sh\n");
  const char* const before = ::getenv("PATH");
  const std::string path = before == nullptr ? "/usr/bin:/bin" : before;
  ::setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  EXPECT_NE(found_program("sh"), own);  // it may not be run
  std::filesystem::permissions(own, std::filesystem::perms::owner_all);
  EXPECT_EQ(found_program("sh"), own);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(found_program("sh").ends_with("/sh"));
  EXPECT_EQ(found_program("no-such-program"), "no-such-program");
  EXPECT_EQ(found_program("/nowhere/sh"), "/nowhere/sh");
}

TEST(Process, HasExactlyTheEnvironmentThatItIsGiven) {
  const std::vector<std::string> variables{"FIRST=1", "SECOND=two words"};
  Process process({"env"}, {}, &variables);
  EXPECT_EQ(talk(process, ""), "FIRST=1\nSECOND=two words\n");
  const std::vector<std::string> none;
  Process bare({"env"}, {}, &none);
  EXPECT_EQ(talk(bare, ""), "");
}

TEST(Process, TellsTheSignalThatKilledIt) {
  Process process({"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(talk(process, ""), "");
  EXPECT_EQ(process.end(kLong), "signal 9 (Killed)");
}

TEST(Process, RaisesNoSignalWhenTheChildStopsReading) {
  Process process({"true"});
  const std::string data(1 << 20, 'x');
  EXPECT_EQ(talk(process, data), "");
  EXPECT_EQ(process.end(kLong), "exit code 0");
}

TEST(Process, IsKilledWhenItDoesNotEnd) {
  const auto start = std::chrono::steady_clock::now();
  pid_t child = -1;
  {
    Process process({"sleep", "100"});
    child = process.id();
    EXPECT_EQ(::kill(child, 0), 0);
  }
  EXPECT_NE(::kill(child, 0), 0);  // gone, and waited for
  Process process({"sleep", "100"});
  EXPECT_EQ(process.end(milliseconds(50)), "signal 9 (Killed)");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50));
}

TEST(Process, EndsThoughItsOutputIsNotRead) {
  Process process({"sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 3"});
  EXPECT_EQ(process.end(kLong), "exit code 3");
  EXPECT_LE(process.errors().size(), 10000u);
}

TEST(Process, InheritsTheDescriptorsItIsGivenAndNoOthers) {
  const ScratchFolder folder;
  const int file = ::open((folder / "file").c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(file, 0);
  const int other = ::fcntl(file, F_DUPFD, 50);  // would stay open in the child
  {
    Process process({"sh", "-c", "echo hello >&4; ls /proc/$$/fd"}, {file, file});
    EXPECT_EQ(talk(process, ""), "0\n1\n2\n3\n4\n");
  }
  std::array<char, 10> buffer{};
  EXPECT_EQ(::pread(file, buffer.data(), buffer.size(), 0), 6);
  EXPECT_STREQ(buffer.data(), "hello\n");
  ::close(file);
  ::close(other);
}

TEST(Process, DoesNotInheritThatASignalIsIgnored) {
  const auto before = ::signal(SIGTERM, SIG_IGN);
  Process process({"sh", "-c", "kill -TERM $$; echo survived"});
  ::signal(SIGTERM, before);
  EXPECT_EQ(talk(process, ""), "");
  EXPECT_EQ(process.end(kLong), "signal 15 (Terminated)");
}

TEST(Process, KeepsWhatTheUserToldUsToIgnore) {
  for (const int signal : {SIGHUP, SIGINT}) {
    const auto before = ::signal(signal, SIG_IGN);  // as nohup starts us, or a shell's background
    Process process({"sh", "-c", "kill -" + std::to_string(signal) + " $$; echo survived"});
    ::signal(signal, before);
    EXPECT_EQ(talk(process, ""), "survived\n") << signal;
    EXPECT_EQ(process.end(kLong), "exit code 0");
  }
}

}  // namespace
}  // namespace shellgame
