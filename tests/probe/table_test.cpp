#include "shellgame/probe/table.h"

#include <gtest/gtest.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

TEST(Table, QuantilesLieOnALineBetweenNeighbours) {
  const std::vector<double> numbers = {1, 2, 4, 8};
  EXPECT_EQ(sorted_quantile(numbers, 0), 1);
  EXPECT_EQ(sorted_quantile(numbers, 0.5), 3);
  EXPECT_DOUBLE_EQ(sorted_quantile(numbers, 0.9), 6.8);
  EXPECT_EQ(sorted_quantile(numbers, 1), 8);
  EXPECT_THROW(sorted_quantile({}, 0.5), UsageError);
}

TEST(Table, CsvHasTheColumnsOfTheFirstRowAndNoLists) {
  const Json rows = {{{"layer", 0}, {"x", 0.5}, {"list", {1, 2}}, {"word", "a, b"}},
                     {{"layer", 1}, {"x", nullptr}, {"list", {3}}, {"word", "c"}}};
  EXPECT_EQ(rows_as_csv(rows), "layer,x,word\n0,0.5,\"a, b\"\n1,,c\n");
}

TEST(Table, TextIsAligned) {
  const Json rows = {{{"head", 0}, {"above_1.9", 0.25}},
                     {{"head", 11}, {"above_1.9", nullptr}},
                     {{"head", 2}, {"above_1.9", -1e-9}}};
  EXPECT_EQ(rows_as_text(rows),
            "head  above 1.9\n   0      0.250\n  11          -\n   2      0.000\n");
}

}  // namespace
}  // namespace shellgame
