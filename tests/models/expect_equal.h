// Two models with the same parameters, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include "shellgame/models/model.h"

namespace shellgame {

inline void expect_equal(const Model& a, const Model& b) {
  ASSERT_EQ(a.parameters().size(), b.parameters().size());
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    EXPECT_EQ(a.parameters()[i].name, b.parameters()[i].name);
    EXPECT_TRUE(a.parameters()[i].value.equal(b.parameters()[i].value)) << a.parameters()[i].name;
  }
}

}  // namespace shellgame
