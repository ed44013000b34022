#include "shellgame/system/replace_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "scratch.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

// Files a and b, or one of them, with a text.
DirectoryFiles pair_of(const std::string& text, bool both = true) {
  return {.write =
              [=](const std::string& directory) {
                write_file(directory + "/a", text);
                if (both) write_file(directory + "/b", text);
              },
          .replaces = [](std::string_view name) { return name == "a" || name == "b"; }};
}

TEST(ReplaceDirectory, MakesItAndReplacesItAndLeavesNothingBeside) {
  const ScratchFolder folder;
  replace_directory(folder / "x/y", pair_of("1"));
  EXPECT_EQ(read_file(folder / "x/y/b"), "1");
  replace_directory(folder / "x/y", pair_of("2", false));
  EXPECT_EQ(read_file(folder / "x/y/a"), "2");
  EXPECT_FALSE(fs::exists(folder / "x/y/b"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "x"), {}), 1);
}

TEST(ReplaceDirectory, FilesOfOthersLinksAndRightsStay) {
  const ScratchFolder folder;
  replace_directory(folder / "real", pair_of("1"));
  fs::create_directory_symlink("real", folder / "link");
  fs::create_directories(folder / "real/more/deep");
  write_file(folder / "real/more/deep/file", "mine");
  write_file(folder / "real/notes", "mine too");
  fs::create_symlink("nowhere", folder / "real/dangling");
  fs::permissions(folder / "real", fs::perms::owner_all);
  replace_directory(folder / "link/", pair_of("2"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "real/a"), "2");
  EXPECT_EQ(read_file(folder / "real/more/deep/file"), "mine");
  EXPECT_EQ(read_file(folder / "real/notes"), "mine too");
  EXPECT_EQ(fs::read_symlink(folder / "real/dangling"), "nowhere");
  EXPECT_EQ(fs::status(folder / "real").permissions(), fs::perms::owner_all);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"link", "real"}));
}

TEST(ReplaceDirectory, AFailureLeavesWhatWasThere) {
  const ScratchFolder folder;
  DirectoryFiles failing = pair_of("2");
  failing.write = [](const std::string& directory) {
    write_file(directory + "/a", "2");
    fail("the disk is full");
  };
  EXPECT_THROW(replace_directory(folder / "x", failing), Error);
  EXPECT_TRUE(folder.names().empty());
  replace_directory(folder / "x", pair_of("1"));
  EXPECT_THROW(replace_directory(folder / "x", failing), Error);
  EXPECT_EQ(read_file(folder / "x/a") + read_file(folder / "x/b"), "11");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x"});
  write_file(folder / "file", "");
  EXPECT_THROW(replace_directory(folder / "file", pair_of("1")), Error);
  EXPECT_THROW(replace_directory(folder / "file/x", pair_of("1")), Error);
}

// Where the folder around it may not be written, files move one by one.
TEST(ReplaceDirectory, WorksInADirectoryWhoseParentIsNotOurs) {
  constexpr uid_t kNobody = 65534;
  const ScratchFolder folder;
  replace_directory(folder / "x/y", pair_of("1"));
  write_file(folder / "x/y/notes", "mine");
  const fs::perms read_only = fs::perms::owner_read | fs::perms::owner_exec |
                              fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(folder / "x", read_only);
  fs::permissions(folder.path(), read_only | fs::perms::owner_write);
  const bool root = ::geteuid() == 0;  // may write everywhere, and becomes somebody else
  if (root) {
    ASSERT_EQ(::chown((folder / "x/y").c_str(), kNobody, kNobody), 0);
  }
  const int status = wait_for(fork_child([&] {
    if (root && ::setuid(kNobody) != 0) return 1;
    replace_directory(folder / "x/y", pair_of("2", false));
    return 0;
  }));
  fs::permissions(folder / "x", fs::perms::owner_all);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_file(folder / "x/y/a") + read_file(folder / "x/y/notes"), "2mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "x/y"), {}), 2);
}

}  // namespace
}  // namespace shellgame
