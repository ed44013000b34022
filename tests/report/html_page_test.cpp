#include "shellgame/report/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "shellgame/report/xml_text.h"
#include "tests/report/small_run.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

constexpr char kCommand[] = "shellgame report DIR";

std::string page_of(const std::string& directory) {
  return html_page(read_runs({directory}), kCommand);
}

// Python's own parser reads it as XML.
void expect_well_formed(const ScratchFolder& folder, const std::string& page) {
  write_file(folder / "page.html", page);
  const std::string command =
      "python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' '" +
      (folder / "page.html") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

void expect_alone(const std::string& page) {
  for (const char* reference : {"http:", "https:", " src=", "@import", "url(", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

// All numbers anywhere below a value.
void collect(const Json& value, std::vector<Json>& numbers) {
  if (value.is_number()) numbers.push_back(value);
  if (value.is_structured())
    for (const Json& item : value) collect(item, numbers);
}

TEST(HtmlPage, HoldsEveryNumberOfAnEvaluation) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {});
  const std::string page = page_of(folder / "run");
  std::vector<Json> numbers;
  collect(Json::parse(read_file(folder / "run/evaluation.json")), numbers);
  collect(Json::parse(read_file(folder / "run/result.json")), numbers);
  ASSERT_GT(numbers.size(), 40u);
  for (const Json& number : numbers) {
    // As the file has it, or as people read it (in a chart's hover text).
    EXPECT_TRUE(page.find(exact_value(number)) != std::string::npos ||
                page.find(short_value(number)) != std::string::npos)
        << number;
  }
  EXPECT_THAT(page, HasSubstr("title=\"0.12345678\""));
  EXPECT_THAT(page, HasSubstr("commands read 4\nsurvival: 0.5625"));  // the survival curve
  EXPECT_THAT(page, HasSubstr("shellgame train small.toml --run DIR"));
  EXPECT_THAT(page, HasSubstr(kCommand));
  EXPECT_THAT(page, HasSubstr("a processor"));
  expect_well_formed(folder, page);
  expect_alone(page);
}

TEST(HtmlPage, SaysAndMarksHowFarAModelWasTrained) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {});
  EXPECT_THAT(page_of(folder / "run"), Not(HasSubstr("rained on up to")));
  Json cells = {small_cell(4, 0.75), small_cell(8, 0.5)};
  for (Json& cell : cells) cell["trained"] = {{"axis", "commands"}, {"segment", 2}, {"longest", 4}};
  write_file(folder / "run/evaluation.json", cells.dump());
  const std::string page = page_of(folder / "run");
  EXPECT_THAT(page, HasSubstr("<p>Trained on up to 2 commands with a gradient, streams of up to 4 "
                              "commands.</p>"));
  // The segment is left of the chart along commands, and on the left edge of those by reveal.
  EXPECT_THAT(page, HasSubstr(">stream</text>"));
  EXPECT_THAT(page, HasSubstr(">segment</text>"));
  expect_well_formed(folder, page);
}

TEST(HtmlPage, TextOfFilesIsNoMarkup) {
  const ScratchFolder folder;
  const std::string bad = "<script>alert(1)</script>\" onload=\"x]]>";
  write_small_run(folder / "a", {.name = bad, .arm = "<img>"});
  write_small_run(folder / "b", {.name = bad, .arm = "<b>&amp;"});
  write_file(folder / "b/environment.json", Json{{"processor", bad}, {bad, "\x01"}}.dump());
  const std::string page = page_of(folder.path());
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img>")));
  EXPECT_THAT(page, Not(HasSubstr("\" onload=\"")));
  expect_well_formed(folder, page);
}

TEST(HtmlPage, SeveralSeedsHaveMeanAndSpread) {
  const ScratchFolder folder;
  write_small_run(folder / "seed-0", {.seed = 0, .accuracy = 0.5});
  write_small_run(folder / "seed-1", {.seed = 1, .accuracy = 0.75});
  const std::string page = page_of(folder.path());
  EXPECT_THAT(page, HasSubstr("0.6250 ± 0.1768"));
  EXPECT_THAT(page, HasSubstr("of 2 runs, from 0.5 to 0.75"));
  EXPECT_THAT(page, HasSubstr("<mark>seed = 0</mark>"));
  EXPECT_THAT(page, Not(HasSubstr("What differs between configurations")));
  expect_well_formed(folder, page);
}

TEST(HtmlPage, DifferencesOfConfigurationsStandOut) {
  const ScratchFolder folder;
  write_small_run(folder / "a", {.arm = "A", .more = "rate = 1"});
  write_small_run(folder / "b", {.arm = "B", .more = "rate = 2"});
  const std::string page = page_of(folder.path());
  EXPECT_THAT(page, HasSubstr("What differs between configurations"));
  EXPECT_THAT(
      page,
      HasSubstr("<th scope=\"row\">rate</th><td class=\"text\">1</td><td class=\"text\">2</td>"));
  EXPECT_THAT(page, HasSubstr("<mark>rate = 1</mark>"));
  EXPECT_THAT(page, HasSubstr("<mark>arm = 'B'</mark>"));
  EXPECT_THAT(page, Not(HasSubstr("<mark>group")));
}

TEST(HtmlPage, AnUnfinishedRunSaysSoAndShowsWhatThereIs) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {.complete = false});
  const std::string page = page_of(folder / "run");
  EXPECT_THAT(page, HasSubstr("not finished yet"));
  EXPECT_THAT(page, HasSubstr("unfinished, at step 6, last checkpoint at step 4"));
  EXPECT_THAT(page, HasSubstr("step 6\nloss: 0.6667"));  // its loss so far
  EXPECT_THAT(page, Not(HasSubstr("<h2>Evaluation")));
  expect_well_formed(folder, page);
  std::filesystem::remove(folder / "run/metrics.jsonl");
  EXPECT_THAT(page_of(folder / "run"), HasSubstr("No step has been made yet"));
}

TEST(HtmlPage, ProbesOfARunAreShown) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {});
  std::filesystem::create_directories(folder / "run/probes");
  write_file(
      folder / "run/probes/find-tracker.json",
      R"({"reason": "the state-tracking head is layer 1, head 0", "heads": [{"layer": 1, "head": 0, "follows": 0.98765}]})");
  write_file(
      folder / "run/probes/betas.json",
      R"({"heads": [{"layer": 1, "head": 0, "min": 0, "q05": 0.1, "q25": 0.2, "median": 1.25, "q75": 1.5, "q95": 1.9, "max": 2}],
                 "kinds": [{"layer": 1, "head": 0, "kind": "prompt", "median": 1.999}]})");
  write_file(
      folder / "run/probes/keys.json",
      R"({"heads": [{"layer": 1, "head": 0, "effective_rank": 12.5, "explained": [0.5, 0.875]}]})");
  const std::string page = page_of(folder / "run");
  EXPECT_THAT(page, HasSubstr("the state-tracking head is layer 1, head 0"));
  EXPECT_THAT(page, HasSubstr("title=\"0.98765\""));
  EXPECT_THAT(page, HasSubstr("layer 1 head 0\nmedian 1.2500"));
  EXPECT_THAT(page, HasSubstr("components 2\nlayer 1 head 0: 0.8750"));
  EXPECT_THAT(page, HasSubstr("1.999"));
  expect_well_formed(folder, page);
}

TEST(HtmlPage, TheSameRunsGiveTheSameBytes) {
  const ScratchFolder folder;
  write_small_run(folder / "run", {});
  EXPECT_EQ(page_of(folder / "run"), page_of(folder / "run"));
}

}  // namespace
}  // namespace shellgame
