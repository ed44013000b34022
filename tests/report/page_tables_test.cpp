#include "shellgame/report/page_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSweep = R"json({"command": "c", "environments": [{"simd": "AVX2"}], "runs": [
 {"settings": ["arm=one", "task.group=S3"], "seeds": [0, 1], "tokens": [1500000, 2500000],
  "parameters": 16544, "environments": [[0], [0]], "cells": [
   {"name": "(8,2)", "commands": 8, "spacing": 2, "accuracy": [1.0, 0.9961]},
   {"name": "(16,2)", "commands": 16, "spacing": 2, "accuracy": [0.5, 0.25]}]},
 {"settings": ["arm=two", "task.group=S3"], "seeds": [0], "tokens": [3000000], "parameters": 7,
  "environments": [[0]], "cells": [
   {"name": "(8,2)", "commands": 8, "spacing": 2, "accuracy": [0.333]}]}]})json";

std::string table_of(const std::string& source, const std::string& text,
                     const std::string& marker) {
  const ScratchFolder folder;
  write_file(folder / source, text);
  const std::string page = "Before\n\n<!-- table\n" + marker + "\n-->\nold\n<!-- end table -->\n";
  const PageTables made = remake_tables(page, folder / "page.md");
  EXPECT_EQ(made.tables, 1u);
  EXPECT_EQ(made.stale.size(), 1u);
  const PageTables again = remake_tables(made.text, folder / "page.md");
  EXPECT_THAT(again.stale, IsEmpty());
  const std::size_t begin = made.text.find("-->\n") + 4;
  return made.text.substr(begin, made.text.find("<!-- end table -->") - begin);
}

TEST(PageTables, ASweepBySettingsHasEverySeedOfACell) {
  EXPECT_EQ(table_of("r.json", kSweep, R"(source = "r.json"
rows = ["arm"]
columns = [{text = "{arm}"}, {across = "cell", text = "{accuracy}"},
  {head = "million tokens", text = "{tokens:0.1/1e6|range}"}, {head = "n", text = "{parameters|same}"}])"),
            "| | (8,2) | (16,2) | million tokens | n |\n| --- | --- | --- | --- | --- |\n"
            "| one | 1.000 .996 | .500 .250 | 1.5 to 2.5 | 16,544 |\n"
            "| two | .333 | | 3.0 | 7 |\n");
}

TEST(PageTables, ASweepBySeedHasTheCellsThatAreAskedFor) {
  EXPECT_EQ(table_of("r.json", kSweep, R"(source = "r.json"
where = {arm = ["one"], "task.group" = "S3"}
rows = ["seed"]
columns = [{text = "seed {seed}"}, {across = "commands", of = [16, 8], head = "{commands}", text = "{accuracy:0.2}"},
  {head = "made with", text = "{simd|same}"}])"),
            "| | 16 | 8 | made with |\n| --- | --- | --- | --- |\n"
            "| seed 0 | 0.50 | 1.00 | AVX2 |\n| seed 1 | 0.25 | 1.00 | AVX2 |\n");
}

TEST(PageTables, RowsMayBeListedWithTextsOfTheirOwn) {
  EXPECT_EQ(table_of("b.json", R"({"steps": [{"case": "a", "speed": 7.57, "peak": 0.41}]})",
                     R"(columns = [{head = "what", text = "{name}"}, {head = "result"}]
[[row]]
name = "a step"
source = "b.json"
at = "steps"
where = {case = "a"}
cells = ["{name}", "{speed:0.1} times, {peak:d*100} %"])"),
            "| what | result |\n| --- | --- |\n| a step | 7.6 times, 41 % |\n");
}

TEST(PageTables, HowFarAModelWasTrainedIsWordsOrNumbers) {
  constexpr const char* kTrained =
      R"json({"runs": [{"settings": ["arm=one"], "seeds": [0, 1], "cells": [
    {"name": "(8,2)", "trained": {"axis": "commands", "segment": 32, "longest": 2048}, "accuracy": [1, 1]},
    {"name": "(9,2)", "trained": {"axis": "commands", "segment": 32, "longest": 2048}, "accuracy": [1, 1]}]}]})json";
  EXPECT_EQ(
      table_of("r.json", kTrained, R"(source = "r.json"
rows = ["arm"]
columns = [{text = "{arm}"}, {head = "trained", text = "{trained|same}"}, {head = "stream", text = "{trained.longest|same}"}])"),
      "| | trained | stream |\n| --- | --- | --- |\n| one | trained on up to 32 commands with a "
      "gradient, streams of up to 2048 commands | 2,048 |\n");
}

TEST(PageTables, CsvAndLinesOfJsonAreSources) {
  EXPECT_EQ(table_of("t.csv", "group,p,tv\nS3,0.1,0.00136\nS3,0.3,4.8e-06\n", R"(source = "t.csv"
rows = ["group"]
columns = [{head = "group", text = "{group}"}, {across = "p", head = "{p:0.1}", text = "{tv:e1}"}])"),
            "| group | 0.1 | 0.3 |\n| --- | --- | --- |\n| S3 | 1.4e-3 | 4.8e-6 |\n");
  EXPECT_EQ(table_of("t.jsonl", "{\"n\": 3, \"cycle\": [1, 2]}\n{\"n\": 4, \"cycle\": [1]}\n",
                     R"(source = "t.jsonl"
columns = [{head = "n", text = "{n}"}, {head = "symbols", text = "{cycle|size}"}])"),
            "| n | symbols |\n| --- | --- |\n| 3 | 2 |\n| 4 | 1 |\n");
}

TEST(PageTables, WhatCannotBeMadeIsRefusedWithItsPlace) {
  const ScratchFolder folder;
  write_file(folder / "r.json", kSweep);
  const auto refused = [&](const std::string& page, const std::string& sentence) {
    try {
      remake_tables(page, folder / "page.md");
      ADD_FAILURE() << page;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("page.md:1"));
      EXPECT_THAT(error.what(), HasSubstr(sentence));
    }
  };
  const auto marked = [](const std::string& marker) {
    return "<!-- table\nsource = 'r.json'\n" + marker + "\n-->\n<!-- end table -->\n";
  };
  refused("<!-- table\nsource = 'r.json'\n", "must end with '-->'");
  refused("<!-- table -->\n| a |\n", "must end with '<!-- end table -->'");
  refused(marked("columns = [{text = '{nothing}'}]"), "'nothing' is not");
  refused(marked("columns = [{text = '{accuracy:q}'}]"), "a number's format must be");
  refused(marked("rows = ['arm']\ncolumns = [{text = '{seed|same}'}]"), "must be the same");
  refused(marked("where = {arm = 'three'}\ncolumns = [{text = '{arm}'}]"), "must have rows");
  refused(marked("colums = []"), "not 'colums'");
}

TEST(PageTables, MarkersInAFenceAreText) {
  const std::string page = "```\n<!-- table\n-->\n```\n";
  EXPECT_EQ(remake_tables(page, "page.md").text, page);
}

TEST(PageTables, ATableOfNumbersOutsideOfMarkersIsFound) {
  const std::string numbers = "| | a |\n| --- | --- |\n| x | .996 1.000 |\n| y | 12 s |\n";
  EXPECT_THAT(unmarked_number_tables("text\n" + numbers, "p"), testing::ElementsAre("p:2"));
  EXPECT_THAT(unmarked_number_tables("```\n" + numbers + "```\n", "p"), IsEmpty());
  EXPECT_THAT(unmarked_number_tables("<!-- table\n-->\n" + numbers + "<!-- end table -->\n", "p"),
              IsEmpty());
  EXPECT_THAT(unmarked_number_tables("| key | meaning |\n| --- | --- |\n| `n` | of 3 |\n", "p"),
              IsEmpty());
}

}  // namespace
}  // namespace shellgame
