#include "shellgame/kernels/head_loss.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/kernels/head_loss_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;
using testing::StridedRows;

constexpr double kEps = 1e-6;

struct Case {
  std::size_t rows, width, vocabulary;
  std::vector<double> x, norm, head;
  std::vector<std::int64_t> targets;
  bool mean = true;
};

// Every third row, or so, has no target.
Case make_case(std::size_t rows, std::size_t width, std::size_t vocabulary) {
  Case c = {rows,
            width,
            vocabulary,
            testing::random_values(rows * width, 1),
            testing::random_values(width, 2),
            testing::random_values(vocabulary * width, 3, 0.5),
            std::vector<std::int64_t>(rows)};
  for (std::size_t r = 0; r < rows; ++r)
    c.targets[r] = r % 3 == 1 ? -1 - static_cast<std::int64_t>(r % 2) * 99
                              : static_cast<std::int64_t>((r * 7 + 3) % vocabulary);
  return c;
}

struct Outputs {
  HeadLoss loss;
  std::vector<float> dx, norm, head, row_loss;
  std::vector<std::int8_t> right;
};

Outputs run(const Case& c, std::size_t gap) {
  StridedRows x(c.rows, c.width, gap, c.x), dx(c.rows, c.width, gap);
  const auto norm = testing::to_float(c.norm), head = testing::to_float(c.head);
  Outputs o;
  o.norm = testing::poisoned(norm.size());
  o.head = testing::poisoned(head.size());
  o.row_loss = testing::poisoned(c.rows);
  o.right.assign(c.rows, 77);
  HeadLossInputs in;
  in.rows = static_cast<std::int64_t>(c.rows);
  in.width = static_cast<std::int64_t>(c.width);
  in.vocabulary = static_cast<std::int64_t>(c.vocabulary);
  in.x = x.view();
  in.norm_weight = norm.empty() ? nullptr : norm.data();
  in.eps = static_cast<float>(kEps);
  in.head = head.data();
  in.targets = c.targets.data();
  in.sum = c.mean ? LossSum::kMean : LossSum::kSum;
  HeadLossOutputs out;
  out.dx = dx.view();
  out.d_head = o.head.data();
  out.d_norm_weight = norm.empty() ? nullptr : o.norm.data();
  out.row_loss = o.row_loss.data();
  out.row_right = o.right.data();
  o.loss = head_loss(in, out);
  EXPECT_TRUE(dx.gaps_untouched());
  o.dx = dx.dense();
  // Without gradients: the same loss, bit for bit.
  EXPECT_EQ(head_loss(in, {}).loss, o.loss.loss);
  return o;
}

void expect_reference(const Case& c) {
  const Outputs o = run(c, c.rows % 3);
  const auto wanted = reference::head_loss(c.rows, c.width, c.vocabulary, c.x, c.norm, kEps, c.head,
                                           c.targets, c.mean);
  EXPECT_NEAR(o.loss.loss, wanted.loss, 1e-5 * std::abs(wanted.loss));
  testing::expect_close(o.row_loss, wanted.row_loss, testing::kForward, "row losses");
  testing::expect_gradient(o.dx, wanted.x, "dx");
  testing::expect_gradient(o.head, wanted.head, "head");
  if (!c.norm.empty()) testing::expect_gradient(o.norm, wanted.norm, "norm");
  std::int64_t counted = 0, right = 0;
  for (std::size_t r = 0; r < c.rows; ++r) {
    counted += c.targets[r] >= 0;
    right += o.right[r];
    if (c.targets[r] < 0) {
      EXPECT_EQ(o.row_loss[r], 0);
      EXPECT_EQ(o.right[r], 0);
    } else {
      EXPECT_TRUE(o.right[r] == 0 || o.right[r] == 1);
    }
  }
  EXPECT_EQ(o.loss.counted, counted);
  EXPECT_EQ(o.loss.right, right);
}

TEST(HeadLoss, ReferenceGradientsAgreeWithComplexStep) {
  const Case c = make_case(5, 4, 6);
  const auto d = reference::head_loss(c.rows, c.width, c.vocabulary, c.x, c.norm, kEps, c.head,
                                      c.targets, true);
  const auto x = testing::to_complex(c.x), norm = testing::to_complex(c.norm),
             head = testing::to_complex(c.head);
  const auto loss = [&](const std::vector<Complex>& x1, const std::vector<Complex>& n1,
                        const std::vector<Complex>& h1) {
    return reference::head_loss(c.rows, c.width, c.vocabulary, x1, n1, kEps, h1, c.targets, true)
        .loss;
  };
  testing::expect_complex_step(
      c.x, d.x, [&](auto& v) { return loss(v, norm, head); }, "x");
  testing::expect_complex_step(
      c.norm, d.norm, [&](auto& v) { return loss(x, v, head); }, "norm");
  testing::expect_complex_step(
      c.head, d.head, [&](auto& v) { return loss(x, norm, v); }, "head");
}

TEST(HeadLoss, FollowsTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t rows : {2, 9, 150, 200})
      for (const std::size_t width : {3, 16, 65})
        for (const std::size_t vocabulary : {2, 15, 17, 90}) {
          SCOPED_TRACE(fmt::format("{} rows, {}, {}", rows, width, vocabulary));
          Case c = make_case(rows, width, vocabulary);
          expect_reference(c);
          c.mean = false;
          c.norm.clear();
          expect_reference(c);
        }
  });
}

TEST(HeadLoss, ALargeVocabularyGoesThroughGroupsOfColumns) {
  expect_reference(make_case(220, 64, 6000));
  Case plain = make_case(70, 300, 1025);
  plain.norm.clear();
  expect_reference(plain);
}

TEST(HeadLoss, TheLargestLogitDecidesWhoIsRightInBothForms) {
  // Row r of x is a multiple of row r of the head: unit vectors, so the largest logit is known.
  for (const std::size_t vocabulary : {std::size_t{20}, std::size_t{20000}}) {
    const std::size_t width = 20;
    Case c = {3,          width,
              vocabulary, std::vector<double>(3 * width),
              {},         std::vector<double>(vocabulary * width),
              {4, 5, -1}};
    for (std::size_t i = 0; i < width; ++i) c.head[(vocabulary - width + i) * width + i] = 1;
    for (std::size_t r = 0; r < 3; ++r) c.x[r * width + 4 + r] = 3;
    c.targets = {static_cast<std::int64_t>(vocabulary - width + 4),
                 static_cast<std::int64_t>(vocabulary - width + 4), -1};
    const Outputs o = run(c, 0);
    EXPECT_EQ(o.right, (std::vector<std::int8_t>{1, 0, 0}));
    EXPECT_EQ(o.loss.right, 1);
  }
}

TEST(HeadLoss, HugeLogitsStayFinite) {
  Case c = make_case(12, 8, 30);
  for (double& value : c.head) value *= 1000;
  const Outputs o = run(c, 0);
  EXPECT_TRUE(std::isfinite(o.loss.loss));
  for (const float value : o.dx) EXPECT_TRUE(std::isfinite(value));
}

TEST(HeadLoss, WithoutTargetsThereIsNothing) {
  for (const std::size_t vocabulary : {std::size_t{10}, std::size_t{50000}}) {
    Case c = make_case(5, 8, vocabulary);
    c.targets.assign(5, -1);
    const Outputs o = run(c, 0);
    EXPECT_EQ(o.loss.loss, 0);
    EXPECT_EQ(o.loss.counted, 0);
    EXPECT_THAT(o.dx, ::testing::Each(0.0F));
    EXPECT_THAT(o.head, ::testing::Each(0.0F));
    EXPECT_THAT(o.norm, ::testing::Each(0.0F));
  }
}

TEST(HeadLoss, ATargetBeyondTheVocabularyIsRefused) {
  Case c = make_case(4, 8, 10);
  c.targets[2] = 10;
  EXPECT_THROW(run(c, 0), UsageError);
}

TEST(HeadLoss, BitsDoNotDependOnThreads) {
  for (const Case& c : {make_case(900, 64, 90), make_case(300, 64, 6000)}) {
    testing::expect_same_bits_on_any_threads([&] {
      Outputs o = run(c, 0);
      return std::vector<std::vector<float>>{
          o.dx, o.head, o.norm, o.row_loss, {static_cast<float>(o.loss.loss)}};
    });
  }
}

}  // namespace
}  // namespace shellgame
