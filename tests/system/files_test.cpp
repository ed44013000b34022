#include "shellgame/system/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>

#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The content, read by the standard library.
std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const ScratchFolder folder;
  const std::string path = folder / "data";
  const std::string bytes("a\0b\r\n\xff", 6);
  {
    OutputFile file(path);
    file.write(bytes);
    EXPECT_FALSE(std::filesystem::exists(path));
    file.write("more");
    EXPECT_EQ(file.size(), 10u);
    file.commit();
    EXPECT_EQ(content_of(path), bytes + "more");
  }
  EXPECT_THAT(folder.names(), ElementsAre("data"));
  EXPECT_EQ(read_file(path), bytes + "more");
  EXPECT_EQ(MappedFile(path).bytes(), bytes + "more");
}

TEST(OutputFile, LeavesEverythingAsItWasWithoutCommit) {
  const ScratchFolder folder;
  { OutputFile(folder / "new").write("half"); }
  EXPECT_THAT(folder.names(), IsEmpty());
  write_file(folder / "old", "before");
  { OutputFile(folder / "old").write("half"); }
  EXPECT_THAT(folder.names(), ElementsAre("old"));
  EXPECT_EQ(content_of(folder / "old"), "before");
}

TEST(OutputFile, LeavesNoHalfFileWhenTheProcessIsInterrupted) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const ScratchFolder folder;
    write_file(folder / "old", "before");
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t child = fork_child([&] {
      ::signal(signal, SIG_DFL);  // the tests may run under nohup, or in a shell's background
      remove_temporary_files_on_interrupt();
      OutputFile file(folder / "data"), again(folder / "old");
      file.write(std::string(1 << 20, 'x'));
      again.write("half");
      const auto seen = static_cast<char>('0' + folder.names().size());
      if (::write(ready[1], &seen, 1) != 1) return 1;
      for (;;) ::pause();
    });
    char seen = 0;
    ASSERT_EQ(::read(ready[0], &seen, 1), 1);
    EXPECT_EQ(seen, '3');  // the two temporary files are really there
    ::kill(child, signal);
    const int status = wait_for(child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << "signal " << signal;
    EXPECT_THAT(folder.names(), ElementsAre("old")) << "signal " << signal;
    EXPECT_EQ(content_of(folder / "old"), "before");
    ::close(ready[0]);
    ::close(ready[1]);
  }
}

TEST(OutputFile, IsNotInterruptedByWhatTheUserIgnores) {
  for (const int signal : {SIGINT, SIGHUP}) {
    const ScratchFolder folder;
    const pid_t child = fork_child([&] {
      ::signal(signal, SIG_IGN);  // as nohup starts a program, or a shell's background
      remove_temporary_files_on_interrupt();
      OutputFile file(folder / "data");
      ::raise(signal);
      file.write("whole");
      file.commit();
      return 0;
    });
    EXPECT_EQ(wait_for(child), 0) << signal;
    EXPECT_EQ(content_of(folder / "data"), "whole");
  }
}

TEST(OutputFile, LeavesNoHalfFileWhenTheDiskIsFull) {
  const ScratchFolder folder;
  write_file(folder / "old", "before");
  // A limit on the size of files stands for the full disk: write() fails in the middle.
  const pid_t child = fork_child([&] {
    const rlimit limit{5000, 5000};
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string large(100000, 'x');
    for (const char* name : {"data", "old"}) {
      const std::string message = message_of([&] { write_file(folder / name, large); });
      if (message.find("File too large") == std::string::npos) return 1;
    }
    return 0;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(folder.names(), ElementsAre("old"));
  EXPECT_EQ(content_of(folder / "old"), "before");
}

TEST(OutputFile, TellsThatADeviceRefuses) {
  EXPECT_THAT(message_of([] { write_file("/dev/full", "a few bytes, refused by the flush"); }),
              HasSubstr("cannot write '/dev/full': No space left on device"));
  EXPECT_THAT(message_of([] { write_file("/dev/full", std::string(1 << 20, 'x')); }),
              HasSubstr("cannot write '/dev/full': No space left on device"));
}

TEST(OutputFile, TellsThatAFolderRefuses) {
  const ScratchFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const pid_t child = fork_child([&] {
    // Root may write anywhere: become nobody.
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return 1;
    const std::string message = message_of([&] { write_file(folder / "data", "text"); });
    return message.find("Permission denied") == std::string::npos ? 2 : 0;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_THAT(message_of([&] { OutputFile file(folder.path()); }), HasSubstr("it is a directory"));
  EXPECT_THAT(message_of([&] { OutputFile file(folder / "no/such"); }),
              HasSubstr("No such file or directory"));
}

TEST(ReadFile, TellsWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_THAT(message_of([&] { read_file(folder / "none"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { read_file(folder.path()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(message_of([&] { MappedFile file(folder / "none"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { MappedFile file(folder.path()); }), HasSubstr("a regular file"));
}

// The exit code of `work` in a child that is given some seconds: a read that waits ends it.
int in_time(const std::function<int()>& work) {
  return wait_for(fork_child([&] {
    ::alarm(20);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need more
    const rlimit memory{std::uint64_t{1} << 31, std::uint64_t{1} << 31};
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    return work();
  }));
}

TEST(ReadFile, WaitsForNoPipeAndReadsNoDevice) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  for (const char* name : {"pipe", "zero"}) {
    const auto refuses = [&](const auto& read) {
      return in_time(
          [&] { return message_of(read).find("a regular file") == std::string::npos ? 1 : 0; });
    };
    EXPECT_EQ(refuses([&] { read_file(folder / name); }), 0) << name;
    EXPECT_EQ(refuses([&] { MappedFile file(folder / name); }), 0) << name;
  }
}

TEST(ReadFile, AsksForNoMemoryForAFileThatIsTooLarge) {
  const ScratchFolder folder;
  write_file(folder / "large", "{");
  ASSERT_EQ(::truncate((folder / "large").c_str(), std::int64_t{1} << 40), 0);
  EXPECT_EQ(in_time([&] {
              return message_of([&] { read_file(folder / "large"); }).find("at most 1073741824") ==
                             std::string::npos
                         ? 1
                         : 0;
            }),
            0);
}

TEST(ReadInput, TakesWhatAUserMayNameButNoDeviceWithoutAnEnd) {
  const ScratchFolder folder;
  write_file(folder / "file", "text");
  EXPECT_EQ(read_input(folder / "file"), "text");
  EXPECT_EQ(read_input("/dev/null"), "");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string much(300'000, 'x');  // more than a pipe holds
  const pid_t writer = fork_child([&] {
    std::ofstream(folder / "pipe") << much;
    return 0;
  });
  EXPECT_EQ(read_input(folder / "pipe"), much);
  EXPECT_EQ(wait_for(writer), 0);
  EXPECT_EQ(in_time([] {
              return message_of([] {
                       read_input("/dev/zero");
                     }).find("must be a file, a pipe or a terminal") == std::string::npos
                         ? 1
                         : 0;
            }),
            0);
  EXPECT_THAT(message_of([&] { read_input(folder.path()); }), HasSubstr("Is a directory"));
  ASSERT_EQ(::truncate((folder / "file").c_str(), std::int64_t{1} << 40), 0);
  EXPECT_THAT(message_of([&] { read_input(folder / "file"); }), HasSubstr("at most"));
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const ScratchFolder folder;
  write_file(folder / "empty", "");
  EXPECT_EQ(MappedFile(folder / "empty").bytes(), "");
  write_file(folder / "one", "1");
  MappedFile first(folder / "one");
  const MappedFile second(std::move(first));
  EXPECT_EQ(second.bytes(), "1");
}

}  // namespace
}  // namespace shellgame
