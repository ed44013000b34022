#include "shellgame/train/toml_json.h"

#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

TEST(TomlJson, RoundTrips) {
  const Json table = {{"name", "a \"quoted\" name"},
                      {"seed", 3},
                      {"rate", 2e-3},
                      {"flag", true},
                      {"list", {1, 2, 3}},
                      {"model", {{"model_type", "delta_net"}, {"attn", {{"layers", {1}}}}}},
                      {"stages", {{{"batch", 4}}, {{"batch", 8}, {"until", 0.96}}}}};
  EXPECT_EQ(toml_to_json(json_to_toml(table), "x.toml"), table);
}

TEST(TomlJson, WhatIsNoTomlIsRefusedWithItsPlace) {
  try {
    toml_to_json("a = 1\nb = = 2\n", "x.toml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("x.toml:2:")) << error.what();
  }
  EXPECT_THROW(toml_to_json("day = 2026-01-01\n", "x.toml"), InputError);
}

TEST(TomlJson, ASettingReachesIntoTablesAndLists) {
  Json table = {{"stages", {{{"batch", 4}}, {{"batch", 8}}}}};
  set_by_path(table, "stages.1.batch=2");
  set_by_path(table, "stages.*.steps=7");
  set_by_path(table, "optimiser.learning-rate=1e-3");
  set_by_path(table, "task.group=S4");  // no TOML value: text
  set_by_path(table, "model.attn={ layers = [1] }");
  EXPECT_EQ(table["stages"], Json({{{"batch", 4}, {"steps", 7}}, {{"batch", 2}, {"steps", 7}}}));
  EXPECT_EQ(table["optimiser"]["learning-rate"], 1e-3);
  EXPECT_EQ(table["task"]["group"], "S4");
  EXPECT_EQ(table["model"]["attn"]["layers"][0], 1);
  EXPECT_THROW(set_by_path(table, "stages.2.batch=1"), UsageError);
  EXPECT_THROW(set_by_path(table, "no-value"), UsageError);
  EXPECT_THROW(set_by_path(table, "task.group.name=1"), UsageError);
}

}  // namespace
}  // namespace shellgame
