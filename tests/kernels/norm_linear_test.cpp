#include "shellgame/kernels/norm_linear.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "shellgame/kernels/linear_add.h"
#include "shellgame/kernels/norm_linear_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;
using testing::StridedRows;

constexpr double kEps = 1e-5;

struct Case {
  std::size_t rows, width, out;
  std::vector<double> x, norm, weight, dy, residual;
};

Case make_case(std::size_t rows, std::size_t width, std::size_t out) {
  return {rows,
          width,
          out,
          testing::random_values(rows * width, 1),
          testing::random_values(width, 2),
          testing::random_values(out * width, 3, 0.3),
          testing::random_values(rows * out, 4),
          testing::random_values(rows * width, 5)};
}

struct Outputs {
  std::vector<float> y, rstd, dx, d_norm, d_weight;
};

Outputs run(const Case& c, std::size_t gap, bool with_residual) {
  StridedRows x(c.rows, c.width, gap, c.x), y(c.rows, c.out, gap), dx(c.rows, c.width, gap);
  StridedRows dy(c.rows, c.out, gap, c.dy), residual(c.rows, c.width, gap, c.residual);
  const auto norm = testing::to_float(c.norm), weight = testing::to_float(c.weight);
  const auto rows = static_cast<std::int64_t>(c.rows), width = static_cast<std::int64_t>(c.width);
  const auto out = static_cast<std::int64_t>(c.out), first = out / 2;
  const Weight parts[] = {{weight.data(), first}, {weight.data() + first * width, out - first}};
  Outputs o;
  o.rstd = testing::poisoned(c.rows);
  o.d_norm = testing::poisoned(c.width);
  o.d_weight = testing::poisoned(c.out * c.width);
  norm_linear(rows, width, x.view(), norm.data(), static_cast<float>(kEps), parts, y.view(),
              o.rstd.data());
  float* const d_parts[] = {o.d_weight.data(), o.d_weight.data() + first * width};
  norm_linear_backward(rows, width, x.view(), norm.data(), o.rstd.data(), parts, dy.view(),
                       with_residual ? ConstRows(residual.view()) : ConstRows{}, dx.view(),
                       o.d_norm.data(), d_parts);
  EXPECT_TRUE(y.gaps_untouched() && dx.gaps_untouched());
  o.y = y.dense();
  o.dx = dx.dense();
  return o;
}

TEST(NormLinear, ReferenceGradientsAgreeWithComplexStep) {
  const Case c = make_case(3, 5, 4);
  const auto d =
      reference::norm_linear_backward(c.rows, c.width, c.out, c.x, c.norm, kEps, c.weight, c.dy);
  const auto norm = testing::to_complex(c.norm), weight = testing::to_complex(c.weight),
             x = testing::to_complex(c.x);
  const auto loss = [&](const std::vector<Complex>& x1, const std::vector<Complex>& n1,
                        const std::vector<Complex>& w1) {
    return testing::dot(reference::norm_linear(c.rows, c.width, c.out, x1, n1, kEps, w1), c.dy);
  };
  testing::expect_complex_step(
      c.x, d.x, [&](auto& v) { return loss(v, norm, weight); }, "x");
  testing::expect_complex_step(
      c.norm, d.norm, [&](auto& v) { return loss(x, v, weight); }, "norm");
  testing::expect_complex_step(
      c.weight, d.weight, [&](auto& v) { return loss(x, norm, v); }, "weight");
}

TEST(NormLinear, FastFormsFollowTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t rows : {1, 7, 16, 95, 97, 200})
      for (const std::size_t width : {1, 3, 8, 17, 64})
        for (const std::size_t out : {1, 2, 15, 65, 130}) {
          SCOPED_TRACE(fmt::format("{} rows, {} -> {}", rows, width, out));
          const Case c = make_case(rows, width, out);
          const Outputs o = run(c, rows % 4, true);
          testing::expect_close(
              o.y, reference::norm_linear(rows, width, out, c.x, c.norm, kEps, c.weight),
              testing::kForward, "y");
          auto d =
              reference::norm_linear_backward(rows, width, out, c.x, c.norm, kEps, c.weight, c.dy);
          for (std::size_t i = 0; i < d.x.size(); ++i) d.x[i] += c.residual[i];
          testing::expect_gradient(o.dx, d.x, "dx");
          testing::expect_gradient(o.d_norm, d.norm, "d_norm");
          testing::expect_gradient(o.d_weight, d.weight, "d_weight");
        }
  });
}

TEST(NormLinear, WithoutAResidualNothingIsAdded) {
  const Case c = make_case(50, 24, 40);
  const auto d =
      reference::norm_linear_backward(c.rows, c.width, c.out, c.x, c.norm, kEps, c.weight, c.dy);
  testing::expect_gradient(run(c, 0, false).dx, d.x, "dx");
}

TEST(NormLinear, ANormWeightOfZeroStillGetsItsGradient) {
  Case c = make_case(20, 9, 11);
  for (std::size_t i = 0; i < c.norm.size(); i += 2) c.norm[i] = 0;
  const auto d =
      reference::norm_linear_backward(c.rows, c.width, c.out, c.x, c.norm, kEps, c.weight, c.dy);
  testing::expect_gradient(run(c, 0, false).d_norm, d.norm, "d_norm");
}

TEST(NormLinear, LargeWeightsTakeTheOtherPathToTheSameNumbers) {
  const Case c = make_case(1700, 300, 900);
  const Outputs o = run(c, 0, false);
  const auto d =
      reference::norm_linear_backward(c.rows, c.width, c.out, c.x, c.norm, kEps, c.weight, c.dy);
  testing::expect_gradient(o.dx, d.x, "dx");
  testing::expect_gradient(o.d_norm, d.norm, "d_norm");
  testing::expect_gradient(o.d_weight, d.weight, "d_weight");
}

TEST(NormLinear, BitsDoNotDependOnThreads) {
  for (const Case& c : {make_case(1000, 64, 194), make_case(400, 300, 900)}) {
    testing::expect_same_bits_on_any_threads([&] {
      Outputs o = run(c, 1, true);
      return std::vector<std::vector<float>>{o.y, o.rstd, o.dx, o.d_norm, o.d_weight};
    });
  }
}

struct AddOutputs {
  std::vector<float> y, d_o, d_weight;
};

// Here x is the residual stream [rows, out], o = c.x [rows, width], the weight [out, width].
AddOutputs run_add(const Case& c, const std::vector<double>& stream, std::size_t gap) {
  StridedRows x(c.rows, c.out, gap, stream), o(c.rows, c.width, gap, c.x), y(c.rows, c.out, gap);
  StridedRows dy(c.rows, c.out, gap, c.dy), d_o(c.rows, c.width, gap);
  const auto weight = testing::to_float(c.weight);
  const auto rows = static_cast<std::int64_t>(c.rows), in = static_cast<std::int64_t>(c.width),
             width = static_cast<std::int64_t>(c.out);
  AddOutputs outputs;
  outputs.d_weight = testing::poisoned(c.weight.size());
  linear_add(rows, in, width, x.view(), o.view(), weight.data(), y.view());
  linear_add_backward(rows, in, width, o.view(), weight.data(), dy.view(), d_o.view(),
                      outputs.d_weight.data());
  EXPECT_TRUE(y.gaps_untouched() && d_o.gaps_untouched());
  outputs.y = y.dense();
  outputs.d_o = d_o.dense();
  return outputs;
}

TEST(LinearAdd, ReferenceGradientsAgreeWithComplexStep) {
  const Case c = make_case(3, 5, 4);
  const auto d = reference::linear_add_backward(c.rows, c.width, c.out, c.x, c.weight, c.dy);
  const std::vector<Complex> stream(c.rows * c.out);
  const auto loss = [&](const std::vector<Complex>& o, const std::vector<Complex>& w) {
    return testing::dot(reference::linear_add(c.rows, c.width, c.out, stream, o, w), c.dy);
  };
  testing::expect_complex_step(
      c.x, d.o, [&](auto& v) { return loss(v, testing::to_complex(c.weight)); }, "o");
  testing::expect_complex_step(
      c.weight, d.weight, [&](auto& v) { return loss(testing::to_complex(c.x), v); }, "weight");
}

TEST(LinearAdd, FastFormsFollowTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t rows : {1, 9, 96, 130})
      for (const std::size_t in : {1, 8, 17, 64, 257})
        for (const std::size_t width :
             {in < 100 ? std::size_t{1} : 31, std::size_t{15}, std::size_t{64}, std::size_t{128}}) {
          SCOPED_TRACE(fmt::format("{} rows, {} -> {}", rows, in, width));
          const Case c = make_case(rows, in, width);
          const auto stream = testing::random_values(rows * width, 9);
          const AddOutputs o = run_add(c, stream, rows % 2 == 0 ? 0 : 3);
          testing::expect_close(o.y, reference::linear_add(rows, in, width, stream, c.x, c.weight),
                                testing::kForward, "y");
          const auto d = reference::linear_add_backward(rows, in, width, c.x, c.weight, c.dy);
          testing::expect_gradient(o.d_o, d.o, "d_o");
          testing::expect_gradient(o.d_weight, d.weight, "d_weight");
        }
  });
}

TEST(LinearAdd, BitsDoNotDependOnThreads) {
  const Case c = make_case(900, 128, 64);
  const auto stream = testing::random_values(c.rows * c.out, 9);
  testing::expect_same_bits_on_any_threads([&] {
    const AddOutputs o = run_add(c, stream, 0);
    return std::vector<std::vector<float>>{o.y, o.d_o, o.d_weight};
  });
}

}  // namespace
}  // namespace shellgame
