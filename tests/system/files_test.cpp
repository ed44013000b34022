#include "shellgame/system/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>

#include "shellgame/system/error.h"
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
