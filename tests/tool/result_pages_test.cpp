// The project's own pages: a number in a table has a file behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "shellgame/report/page_tables.h"
#include "shellgame/system/files.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;

// README.md, bench/README.md and all pages of docs/ and experiments/.
std::vector<std::string> result_pages() {
  const std::string root = SHELLGAME_SOURCE_DIR;
  std::vector<std::string> pages = {root + "/README.md", root + "/bench/README.md"};
  for (const char* folder : {"/docs", "/experiments"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root + folder)) {
      if (entry.path().extension() == ".md") pages.push_back(entry.path().string());
    }
  }
  return pages;
}

// Tables of numbers that nobody measured, by page and first line.
const std::set<std::string> kNotMeasured = {
    // Counted from the shapes of the layers; tests/models/paper_test.cpp checks it.
    "docs/models.md: | layers | SwiGLU | parameters |",
};

std::string line_at(const std::string& page, std::size_t number) {
  std::size_t begin = 0;
  for (std::size_t i = 1; i < number; ++i) begin = page.find('\n', begin) + 1;
  return page.substr(begin, page.find('\n', begin) - begin);
}

TEST(ResultPages, NoTableIsStale) {
  std::size_t tables = 0;
  for (const std::string& path : result_pages()) {
    const PageTables made = remake_tables(read_file(path), path);
    EXPECT_THAT(made.stale, testing::IsEmpty()) << "'shellgame tables' makes them anew";
    tables += made.tables;
  }
  EXPECT_GT(tables, 20u);
}

TEST(ResultPages, ATableOfMeasuredNumbersIsMadeFromAFile) {
  const std::size_t root = std::string(SHELLGAME_SOURCE_DIR "/").size();
  for (const std::string& path : result_pages()) {
    const std::string page = read_file(path);
    for (const std::string& place : unmarked_number_tables(page, path)) {
      const std::string first = line_at(page, std::stoul(place.substr(place.rfind(':') + 1)));
      EXPECT_TRUE(kNotMeasured.contains(path.substr(root) + ": " + first))
          << place << " is a table of numbers outside of '<!-- table' markers";
    }
  }
}

TEST(ResultPages, EveryExperimentHasItsFileItsPageAndItsResultsOrSaysSo) {
  std::size_t experiments = 0;
  for (const auto& entry : fs::directory_iterator(SHELLGAME_SOURCE_DIR "/experiments")) {
    if (!entry.is_directory()) {
      EXPECT_EQ(entry.path().extension(), ".md") << entry.path();
      continue;
    }
    ++experiments;
    EXPECT_TRUE(fs::exists(entry.path() / "experiment.toml")) << entry.path();
    ASSERT_TRUE(fs::exists(entry.path() / "README.md")) << entry.path();
    const std::string page = read_file((entry.path() / "README.md").string());
    EXPECT_EQ(fs::exists(entry.path() / "results.json"),
              page.find("No kept result") == std::string::npos)
        << entry.path();
  }
  EXPECT_GT(experiments, 10u);
}

}  // namespace
}  // namespace shellgame
