#include "shellgame/system/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

// What a second and a bit of work shows on standard error, the descriptor given.
void work_for_a_moment() {
  Progress progress("writing traces", "traces", 100);
  progress.advance(25);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  progress.advance(25);
}

TEST(Progress, IsSilentOnShortWork) {
  testing::internal::CaptureStderr();
  {
    Progress progress("writing traces", "traces", 100);
    for (int i = 0; i < 100; ++i) progress.advance(1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, DrawsNoBarOffATerminal) {
  testing::internal::CaptureStderr();
  work_for_a_moment();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, ShowsABarOnATerminalAndClearsIt) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_TRUE(::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
  const pid_t child = fork_child([&] {
    const int other = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0 || ::dup2(other, STDERR_FILENO) < 0) return 1;
    work_for_a_moment();
    return 0;
  });
  std::string shown;
  std::array<char, 1000> buffer{};
  ssize_t got = 0;
  while (shown.find("left\r\033[K") == std::string::npos &&
         (got = ::read(terminal, buffer.data(), buffer.size())) > 0) {
    shown.append(buffer.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(shown, AllOf(HasSubstr("writing traces [###############               ]  50 %"),
                           HasSubstr("traces/s"), EndsWith("s left\r\033[K")));
  ::close(terminal);
}

}  // namespace
}  // namespace shellgame
