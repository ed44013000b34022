#include "shellgame/text/python_number.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(PythonNumber, IsAsPythonWritesIt) {
  EXPECT_EQ(python_number(0.5), "0.5");
  EXPECT_EQ(python_number(1), "1.0");
  EXPECT_EQ(python_number(0), "0.0");
  EXPECT_EQ(python_number(0.00001), "1e-05");
  EXPECT_EQ(python_number(0.1 + 0.2), "0.30000000000000004");
}

}  // namespace
}  // namespace shellgame
