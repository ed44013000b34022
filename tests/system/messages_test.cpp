#include "shellgame/system/messages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

// Puts a file in the place of a standard descriptor.
bool redirect(const char* path, int flags, int descriptor) {
  const int file = ::open(path, flags);
  return file >= 0 && ::dup2(file, descriptor) >= 0;
}

TEST(Messages, NeverFail) {
  const pid_t full = fork_child([] {
    if (!redirect("/dev/full", O_WRONLY, STDERR_FILENO)) return 1;
    say("nobody hears {}", "this");
    draw("\r");
    return 0;
  });
  EXPECT_EQ(wait_for(full), 0);
  const pid_t closed = fork_child([] {
    ::close(STDERR_FILENO);
    say("nobody hears {}", "this");
    return 0;
  });
  EXPECT_EQ(wait_for(closed), 0);
}

TEST(Messages, DoNotDieOfAReaderThatWentAway) {
  const pid_t child = fork_child([] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return 1;
    ::close(ends[0]);
    say("nobody hears this");
    // The signal still ends the program where it writes an answer.
    if (::write(ends[1], "x", 1) == 1) return 2;
    return 3;
  });
  const int status = wait_for(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) << status;
}

TEST(Messages, ShowWhatOthersWroteAndDoNotObeyIt) {
  testing::internal::CaptureStderr();
  say("'{}' is wrong\nand more", "\x1b]0;title\x07");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "'\\x1b]0;title\\x07' is wrong\nand more\n");
  testing::internal::CaptureStdout();
  print_lines("{:>4}|\n", "\x1b[2J");
  print_data("raw \x1b[1m\n");
  flush_output();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\\x1b[2J|\nraw \x1b[1m\n");
}

TEST(Messages, DataIsPrintableOnATerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_TRUE(::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
  const pid_t child = fork_child([&] {
    const int other = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0 || ::dup2(other, STDOUT_FILENO) < 0) return 1;
    print_data("one \x1b[31m\n");
    flush_output();
    OutputFile file("-");
    file.write("two \x1b[32m\n");
    file.commit();
    return file.size() == 10 ? 0 : 2;
  });
  std::string shown;
  std::array<char, 1000> buffer{};
  ssize_t got = 0;
  while (std::count(shown.begin(), shown.end(), '\n') < 2 &&
         (got = ::read(terminal, buffer.data(), buffer.size())) > 0)
    shown.append(buffer.data(), static_cast<std::size_t>(got));
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(shown, "one \\x1b[31m\r\ntwo \\x1b[32m\r\n");
  ::close(terminal);
}

TEST(Messages, AnAnswerThatCannotBeWrittenIsAnError) {
  const pid_t child = fork_child([] {
    if (!redirect("/dev/full", O_WRONLY, STDOUT_FILENO)) return 1;
    try {
      print_lines("an answer\n");
      flush_output();
    } catch (const Error& error) {
      return std::string(error.what()) == "cannot write to standard output: No space left on device"
                 ? 0
                 : 2;
    }
    return 3;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST(Messages, NoFileGetsTheNumberOfAClosedDescriptor) {
  const pid_t child = fork_child([] {
    for (const int descriptor : {0, 1, 2}) ::close(descriptor);
    take_closed_descriptors();
    const int file = ::open("/dev/null", O_RDWR);
    if (file <= STDERR_FILENO) return 1;
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) >= 0) return 2;  // still an error
    if (::write(STDOUT_FILENO, "x", 1) >= 0) return 3;  // this, too
    return ::write(STDERR_FILENO, "x", 1) == 1 ? 0 : 4;
  });
  EXPECT_EQ(wait_for(child), 0);
}

// fmt::print throws where it cannot write, and knows nothing of control characters.
TEST(Messages, AreTheOnlyWayToStandardErrorAndOutput) {
  for (const auto& entry : fs::recursive_directory_iterator(SHELLGAME_SOURCE_DIR "/shellgame")) {
    const std::string extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    if (entry.path().stem() == "messages") continue;
    const std::string text = read_file(entry.path());
    for (const char* way : {"stderr", "fmt::print(", "std::cerr", "std::cout", "perror("})
      EXPECT_EQ(text.find(way), std::string::npos) << entry.path() << " has " << way;
  }
}

}  // namespace
}  // namespace shellgame
