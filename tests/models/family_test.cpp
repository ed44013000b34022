// Families: the model_type of config.json, and mixers that others register.
#include "shellgame/models/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/models/mixer.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

TEST(Family, AMixerRegisteredAfterTheFirstLookIsAFamily) {
  const Family& before = find_family("shellgame_gru");
  ASSERT_THROW(find_family("shellgame_test_late"), UsageError);
  MixerEntry entry = find_mixer("gru");
  entry.name = "test_late";
  entry.defaults["cell_size"] = 12;
  register_mixer(entry);
  EXPECT_THAT(family_names(), testing::Contains("shellgame_test_late"));
  const ModelConfig config(Options::Json{{"model_type", "shellgame_test_late"}});
  EXPECT_EQ(config.spec().layers.front().mixer, "test_late");
  EXPECT_EQ(config.options().size("cell_size"), 12);
  // What was found before stays where it was.
  EXPECT_EQ(&find_family("shellgame_gru"), &before);
  EXPECT_EQ(before.model_type, "shellgame_gru");
}

TEST(Family, AnUnknownOneIsRefusedWithTheKnownNames) {
  try {
    find_family("mamba3");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("mamba2"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'mamba3'"));
  }
}

}  // namespace
}  // namespace shellgame
