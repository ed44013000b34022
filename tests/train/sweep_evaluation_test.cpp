#include "shellgame/train/sweep_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/evaluate/cell.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

// A sweep of one entry with two seeds, whose models answer with their seed as accuracy.
struct Evaluated {
  ScratchFolder folder;
  SweepEvaluationOptions options;
  std::vector<std::string> asked;

  Evaluated() {
    write_file(folder / "sweep.json",
               R"({"command": "c", "runs": [{"settings": ["arm=A"], "seeds": [4, 7],
                   "directories": ["A/seed-4", "A/seed-7"], "cells": [{"name": "old"}]}]})");
    options = {.sweep = folder.path(), .name = "cycle", .command = "evaluate it"};
    options.evaluate = [this](const std::string& run) {
      asked.push_back(run);
      EvaluationReport report;
      EvaluationCell cell;
      cell.axes = {{.name = "N", .value = "16"}};
      cell.all.accuracy.value = run.ends_with("4") ? 0.25 : 0.75;
      cell.all.traces = 12;
      report.cells = {cell};
      return to_json(report);
    };
  }
};

TEST(SweepEvaluation, EveryRunHasItsCellsInTheFormOfASweep) {
  Evaluated sweep;
  const Json all = evaluate_sweep(sweep.options);
  const Json& cells = all["runs"][0]["cells"];
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0]["N"], 16);
  EXPECT_EQ(cells[0]["accuracy"], Json::parse("[0.25, 0.75]"));
  EXPECT_EQ(all["evaluation"]["command"], "evaluate it");
  EXPECT_FALSE(cells[0].contains("seconds"));
}

TEST(SweepEvaluation, WhatARunKeepsIsNotAskedAgain) {
  Evaluated sweep;
  const Json first = evaluate_sweep(sweep.options);
  EXPECT_EQ(sweep.asked.size(), 2u);
  EXPECT_EQ(evaluate_sweep(sweep.options), first);
  EXPECT_EQ(sweep.asked.size(), 2u);
  sweep.options.command = "evaluate something else";
  EXPECT_THROW(evaluate_sweep(sweep.options), UsageError);
  sweep.options.name = "other";
  evaluate_sweep(sweep.options);
  EXPECT_EQ(sweep.asked.size(), 4u);
}

TEST(SweepEvaluation, OnlyTheMeasuresThatAreAskedForAreKept) {
  Evaluated sweep;
  sweep.options.measures = {"accuracy"};
  const Json all = evaluate_sweep(sweep.options);
  const Json& cell = all["runs"][0]["cells"][0];
  EXPECT_TRUE(cell.contains("accuracy"));
  EXPECT_TRUE(cell.contains("traces"));
  EXPECT_FALSE(cell.contains("regret"));
  EXPECT_FALSE(cell.contains("by_position"));
}

TEST(SweepEvaluation, WhatIsNoFinishedSweepIsRefused) {
  Evaluated sweep;
  write_file(sweep.folder / "sweep.json", "[3]");
  EXPECT_THROW(evaluate_sweep(sweep.options), InputError);
  sweep.options.sweep += "/nowhere";
  EXPECT_THROW(evaluate_sweep(sweep.options), UsageError);
}

}  // namespace
}  // namespace shellgame
