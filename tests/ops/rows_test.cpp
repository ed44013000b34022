#include "shellgame/ops/rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace shellgame {
namespace {

TEST(Rows, ASliceOfColumnsIsEven) {
  const at::Tensor all = at::zeros({3, 5, 12});
  const at::Tensor slice = all.narrow(2, 4, 6);
  EXPECT_EQ(even_rows(slice).data_ptr(), slice.data_ptr());
  EXPECT_EQ(const_rows(slice).stride, 12);
  const at::Tensor heads = slice.unflatten(-1, {2, 3});
  EXPECT_EQ(even_heads(heads).data_ptr(), heads.data_ptr());
  EXPECT_EQ(head_rows(heads).stride, 12u);
}

TEST(Rows, AnAxisOfLengthOneHidesNoGap) {
  // One token of n = 3 steps: rows of heads lie side by side, batches do not.
  const at::Tensor steps = at::arange(3 * 3 * 2 * 4, at::kFloat).view({3, 1, 3, 2, 4});
  const at::Tensor last = steps.select(2, 2);  // [3, 1, 2, 4]
  const at::Tensor even = even_rows(last);
  const ConstRows rows = const_rows(even);
  for (std::int64_t r = 0; r < 6; ++r) {
    EXPECT_EQ(rows.row(r)[0], last[r / 2][0][r % 2][0].item<float>()) << r;
  }
  EXPECT_EQ(head_rows(even_heads(last)).stride, 24u);
}

TEST(Rows, TransposedTensorsAreCopied) {
  const at::Tensor x = at::zeros({4, 6}).t();
  EXPECT_NE(even_rows(x).data_ptr(), x.data_ptr());
}

}  // namespace
}  // namespace shellgame
