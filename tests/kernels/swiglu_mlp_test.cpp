#include "shellgame/kernels/swiglu_mlp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shellgame/kernels/swiglu_mlp_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;
using testing::StridedRows;

constexpr double kEps = 1e-6;

struct Case {
  std::size_t rows, width, hidden;
  std::vector<double> x, dy;
  reference::SwigluMlp<double> weights;
};

Case make_case(std::size_t rows, std::size_t width, std::size_t hidden) {
  return {rows,
          width,
          hidden,
          testing::random_values(rows * width, 1),
          testing::random_values(rows * width, 2),
          {testing::random_values(width, 3), testing::random_values(hidden * width, 4, 0.5),
           testing::random_values(hidden * width, 5, 0.5),
           testing::random_values(width * hidden, 6, 0.5)}};
}

struct Outputs {
  std::vector<float> y, dx, norm, gate, up, down;
};

Outputs run(const Case& c, std::size_t gap, bool save) {
  StridedRows x(c.rows, c.width, gap, c.x), y(c.rows, c.width, gap);
  StridedRows dy(c.rows, c.width, gap, c.dy), dx(c.rows, c.width, gap);
  const auto norm = testing::to_float(c.weights.norm), gate = testing::to_float(c.weights.gate),
             up = testing::to_float(c.weights.up), down = testing::to_float(c.weights.down);
  Outputs o;
  o.norm = testing::poisoned(norm.size());
  o.gate = testing::poisoned(gate.size());
  o.up = testing::poisoned(up.size());
  o.down = testing::poisoned(down.size());
  auto rstd = testing::poisoned(c.rows), saved = testing::poisoned(2 * c.rows * c.hidden);
  const auto rows = static_cast<std::int64_t>(c.rows), width = static_cast<std::int64_t>(c.width),
             hidden = static_cast<std::int64_t>(c.hidden);
  const SwigluWeights weights = {norm.data(), gate.data(), up.data(), down.data()};
  swiglu_mlp(rows, width, hidden, x.view(), weights, static_cast<float>(kEps), y.view(),
             rstd.data(), save ? saved.data() : nullptr);
  swiglu_mlp_backward(rows, width, hidden, x.view(), weights, rstd.data(),
                      save ? saved.data() : nullptr, dy.view(), dx.view(),
                      {o.norm.data(), o.gate.data(), o.up.data(), o.down.data()});
  EXPECT_TRUE(y.gaps_untouched() && dx.gaps_untouched());
  o.y = y.dense();
  o.dx = dx.dense();
  return o;
}

void expect_reference(const Case& c, const Outputs& o) {
  testing::expect_close(o.y, reference::swiglu_mlp(c.rows, c.width, c.hidden, c.x, c.weights, kEps),
                        testing::kForward, "y");
  std::vector<double> dx;
  const auto d =
      reference::swiglu_mlp_backward(c.rows, c.width, c.hidden, c.x, c.weights, kEps, c.dy, dx);
  testing::expect_gradient(o.dx, dx, "dx");
  testing::expect_gradient(o.norm, d.norm, "norm");
  testing::expect_gradient(o.gate, d.gate, "gate");
  testing::expect_gradient(o.up, d.up, "up");
  testing::expect_gradient(o.down, d.down, "down");
}

TEST(SwigluMlp, ReferenceGradientsAgreeWithComplexStep) {
  const Case c = make_case(3, 4, 5);
  std::vector<double> dx;
  const auto d =
      reference::swiglu_mlp_backward(c.rows, c.width, c.hidden, c.x, c.weights, kEps, c.dy, dx);
  const reference::SwigluMlp<Complex> w = {
      testing::to_complex(c.weights.norm), testing::to_complex(c.weights.gate),
      testing::to_complex(c.weights.up), testing::to_complex(c.weights.down)};
  const auto x = testing::to_complex(c.x);
  const auto loss = [&](const std::vector<Complex>& x1, const reference::SwigluMlp<Complex>& w1) {
    return testing::dot(reference::swiglu_mlp(c.rows, c.width, c.hidden, x1, w1, kEps), c.dy);
  };
  testing::expect_complex_step(
      c.x, dx, [&](auto& v) { return loss(v, w); }, "x");
  const auto check = [&](const std::vector<double>& at, const std::vector<double>& gradient,
                         std::vector<Complex> reference::SwigluMlp<Complex>::*member,
                         const char* name) {
    testing::expect_complex_step(
        at, gradient,
        [&](auto& v) {
          auto moved = w;
          moved.*member = v;
          return loss(x, moved);
        },
        name);
  };
  check(c.weights.norm, d.norm, &reference::SwigluMlp<Complex>::norm, "norm");
  check(c.weights.gate, d.gate, &reference::SwigluMlp<Complex>::gate, "gate");
  check(c.weights.up, d.up, &reference::SwigluMlp<Complex>::up, "up");
  check(c.weights.down, d.down, &reference::SwigluMlp<Complex>::down, "down");
}

TEST(SwigluMlp, FastFormsFollowTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t rows : {1, 7, 96, 100})
      for (const std::size_t width : {3, 8, 17, 64})
        for (const std::size_t hidden : {1, 9, 16, 65}) {
          SCOPED_TRACE(fmt::format("{} rows, {}, {}", rows, width, hidden));
          const Case c = make_case(rows, width, hidden);
          expect_reference(c, run(c, rows % 3, true));
          expect_reference(c, run(c, rows % 3, false));
        }
  });
}

TEST(SwigluMlp, LargeWeightsTakeTheOtherPathToTheSameNumbers) {
  const Case c = make_case(400, 256, 400);
  expect_reference(c, run(c, 0, true));
  expect_reference(c, run(c, 0, false));
}

TEST(SwigluMlp, BitsDoNotDependOnThreadsNorOnSaving) {
  for (const Case& c : {make_case(700, 64, 160), make_case(250, 256, 400)}) {
    const auto outputs = [&](bool save) {
      Outputs o = run(c, 0, save);
      return std::vector<std::vector<float>>{o.y, o.dx, o.norm, o.gate, o.up, o.down};
    };
    testing::expect_same_bits_on_any_threads([&] { return outputs(true); });
    EXPECT_EQ(outputs(true), outputs(false));
  }
}

}  // namespace
}  // namespace shellgame
