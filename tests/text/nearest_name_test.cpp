#include "shellgame/text/nearest_name.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(NearestName, FindsATypingError) {
  const std::vector<std::string> names = {"--spacing", "--commands", "--group"};
  EXPECT_EQ(nearest_name("--spcaing", names), "--spacing");
  EXPECT_EQ(nearest_name("--comand", names), "--commands");
  EXPECT_EQ(nearest_name("--wholly-different", names), "");
}

}  // namespace
}  // namespace shellgame
