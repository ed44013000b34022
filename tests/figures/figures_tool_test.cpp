// `shellgame figures` as a user meets it. What needs no models is made whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shellgame/figures/figure.h"
#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

TEST(FiguresTool, MakesEveryFormOfWhatNeedsNoModel) {
  const ScratchFolder folder;
  std::string names;
  std::vector<std::string> made;
  for (const FigureEntry& entry : all_figures()) {
    if (!entry.needs.empty()) continue;
    names += entry.name + " ";
    made.push_back(entry.name);
  }
  EXPECT_GE(made.size(), 6u);
  const Result result = run("figures " + names + "--results none --dpi 72 --out " + folder.path());
  ASSERT_EQ(result.code, 0) << result.output;
  for (const std::string& name : made) {
    const std::string command = "shellgame figures " + name + " --results none --out ";
    EXPECT_THAT(read_file(folder / (name + ".svg")), testing::HasSubstr("<metadata>" + command));
    EXPECT_THAT(read_file(folder / (name + ".pdf")), testing::StartsWith("%PDF-"));
    EXPECT_THAT(read_file(folder / (name + ".pdf")), testing::HasSubstr("shellgame figures"));
    EXPECT_THAT(read_file(folder / (name + ".png")), testing::HasSubstr(command));
    EXPECT_GT(read_file(folder / (name + ".csv")).size(), 100u) << name;
  }
  // Python's own reader of XML, as a second witness of the form.
  const std::string check =
      "python3 -c \"import glob, xml.etree.ElementTree as t; "
      "[t.parse(f) for f in glob.glob('" +
      folder.path() + "/*.svg')]\"";
  EXPECT_EQ(std::system(check.c_str()), 0);
  const auto index = nlohmann::json::parse(read_file(folder / "figures.json"));
  EXPECT_EQ(index.size(), made.size());
  EXPECT_THAT(read_file(folder / "README.md"), testing::HasSubstr("(uncertainty.svg)"));
}

TEST(FiguresTool, WrongUseIsOneSentence) {
  const ScratchFolder folder;
  const Result unknown = run("figures betass --out " + folder.path());
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, testing::HasSubstr("did you mean 'betas'?"));
  EXPECT_EQ(run("figures --out " + folder.path()).code, 2);
  EXPECT_EQ(run("figures uncertainty").code, 2);
  EXPECT_EQ(run("figures betas --runs nowhere --out " + folder.path()).code, 2);
  EXPECT_EQ(run("figures betas --results nowhere --out " + folder.path()).code, 2);
  const Result untrained =
      run("figures spacing --results none --no-training --out " + folder.path());
  EXPECT_EQ(untrained.code, 1);
  EXPECT_THAT(untrained.output, testing::HasSubstr("--no-training forbids it"));
  EXPECT_EQ(run("figures betas --runs " + folder.path() + " --out " + folder.path()).code, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FiguresTool, ListNamesAllAndWhatEachNeeds) {
  const Result result = run("figures --list");
  EXPECT_EQ(result.code, 0);
  for (const FigureEntry& entry : all_figures())
    EXPECT_THAT(result.output, testing::HasSubstr(entry.name));
}

}  // namespace
}  // namespace shellgame
