#include "shellgame/kernels/attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shellgame/kernels/attention_reference.h"
#include "shellgame/text/error.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;

struct Case {
  AttentionSizes sizes;
  std::vector<double> q, k, v, d_o;
  double scale;
};

Case make_case(const AttentionSizes& s, double size = 1) {
  return {s,
          testing::random_values(s.B * s.T * s.H * s.K, 1, size),
          testing::random_values(s.B * s.S * s.G * s.K, 2, size),
          testing::random_values(s.B * s.S * s.G * s.V, 3),
          testing::random_values(s.B * s.T * s.H * s.V, 4),
          1 / std::sqrt(static_cast<double>(s.K))};
}

template <class Real>
struct Outputs {
  std::vector<Real> o, dq, dk, dv;
};

template <class Real>
std::vector<Real> meaning(const Case& c, const std::vector<Real>& q, const std::vector<Real>& k,
                          const std::vector<Real>& v) {
  const AttentionSizes& s = c.sizes;
  std::vector<Real> o(s.B * s.T * s.H * s.V);
  reference::attention_forward<Real>(s,
                                     {.q = {q.data(), s.H * s.K},
                                      .k = {k.data(), s.G * s.K},
                                      .v = {v.data(), s.G * s.V},
                                      .scale = Real(c.scale)},
                                     {o.data(), s.H * s.V});
  return o;
}

Outputs<double> run_reference(const Case& c) {
  const AttentionSizes& s = c.sizes;
  Outputs<double> r{meaning(c, c.q, c.k, c.v), std::vector<double>(c.q.size()),
                    std::vector<double>(c.k.size()), std::vector<double>(c.v.size())};
  reference::attention_backward<double>(s,
                                        {.q = {c.q.data(), s.H * s.K},
                                         .k = {c.k.data(), s.G * s.K},
                                         .v = {c.v.data(), s.G * s.V},
                                         .scale = c.scale},
                                        {.d_o = {c.d_o.data(), s.H * s.V},
                                         .dq = {r.dq.data(), s.H * s.K},
                                         .dk = {r.dk.data(), s.G * s.K},
                                         .dv = {r.dv.data(), s.G * s.V}});
  return r;
}

RowView<float> rows_of(testing::StridedRows& rows) {
  return {rows.view().data, static_cast<std::size_t>(rows.view().stride)};
}

// With gaps between rows, and poison in every place that is written.
Outputs<float> run(const Case& c, std::size_t gap) {
  const AttentionSizes& s = c.sizes;
  testing::StridedRows q(s.B * s.T, s.H * s.K, gap, c.q), dq(s.B * s.T, s.H * s.K, gap);
  testing::StridedRows k(s.B * s.S, s.G * s.K, gap, c.k), dk(s.B * s.S, s.G * s.K, gap);
  testing::StridedRows v(s.B * s.S, s.G * s.V, gap, c.v), dv(s.B * s.S, s.G * s.V, gap);
  testing::StridedRows o(s.B * s.T, s.H * s.V, gap), d_o(s.B * s.T, s.H * s.V, gap, c.d_o);
  std::vector<float> saved = testing::poisoned(attention_saved_size(s));
  const AttentionInput<float> in = {
      .q = rows_of(q), .k = rows_of(k), .v = rows_of(v), .scale = static_cast<float>(c.scale)};
  attention_forward(s, in, rows_of(o), saved.data());
  attention_backward(
      s, in, rows_of(o), saved.data(),
      {.d_o = rows_of(d_o), .dq = rows_of(dq), .dk = rows_of(dk), .dv = rows_of(dv)});
  for (const auto* rows : {&o, &dq, &dk, &dv}) EXPECT_TRUE(rows->gaps_untouched());
  return {o.dense(), dq.dense(), dk.dense(), dv.dense()};
}

void expect_as_reference(const Case& c, std::size_t gap) {
  const Outputs<double> wanted = run_reference(c);
  const Outputs<float> got = run(c, gap);
  testing::expect_close(got.o, wanted.o, testing::kForward, "o");
  testing::expect_gradient(got.dv, wanted.dv, "dv");
  // A query that sees one key has a gradient of zero.
  if (c.sizes.S == 1 || c.sizes.window == 1) {
    for (const auto* values : {&got.dq, &got.dk})
      for (const float value : *values) ASSERT_LT(std::abs(value), 1e-5F);
    return;
  }
  testing::expect_gradient(got.dq, wanted.dq, "dq");
  testing::expect_gradient(got.dk, wanted.dk, "dk");
}

std::string text(const AttentionSizes& s) {
  return fmt::format("B {} T {} S {} H {} G {} K {} V {} window {}", s.B, s.T, s.S, s.H, s.G, s.K,
                     s.V, s.window);
}

TEST(Attention, FollowsItsReferenceOnEveryTarget) {
  // Blocks are 24 queries by 64 keys, and a forward item has 480 queries.
  const std::vector<AttentionSizes> all = {
      {.B = 2, .T = 1, .S = 1, .H = 2, .G = 2, .K = 8, .V = 8},
      {.B = 1, .T = 1, .S = 133, .H = 2, .G = 1, .K = 16, .V = 16},
      {.B = 2, .T = 5, .S = 5, .H = 1, .G = 1, .K = 12, .V = 20},
      {.B = 1, .T = 64, .S = 64, .H = 2, .G = 2, .K = 32, .V = 32},
      {.B = 2, .T = 131, .S = 131, .H = 4, .G = 2, .K = 16, .V = 16},
      {.B = 1, .T = 97, .S = 170, .H = 3, .G = 1, .K = 64, .V = 64},
      {.B = 1, .T = 70, .S = 71, .H = 1, .G = 1, .K = 128, .V = 128},
      {.B = 1, .T = 110, .S = 110, .H = 2, .G = 1, .K = 32, .V = 8},
      {.B = 1, .T = 50, .S = 50, .H = 1, .G = 1, .K = 6, .V = 3},
      {.B = 1, .T = 40, .S = 40, .H = 2, .G = 2, .K = 8, .V = 8, .window = 1},
      {.B = 1, .T = 150, .S = 150, .H = 2, .G = 2, .K = 8, .V = 8, .window = 7},
      {.B = 1, .T = 150, .S = 222, .H = 2, .G = 1, .K = 16, .V = 8, .window = 30},
      {.B = 1, .T = 260, .S = 260, .H = 1, .G = 1, .K = 8, .V = 8, .window = 100},
      {.B = 1, .T = 1, .S = 90, .H = 1, .G = 1, .K = 8, .V = 8, .window = 20},
      {.B = 1, .T = 30, .S = 30, .H = 1, .G = 1, .K = 8, .V = 8, .window = 1000},
      {.B = 1, .T = 503, .S = 520, .H = 1, .G = 1, .K = 8, .V = 8},
      {.B = 1, .T = 503, .S = 503, .H = 1, .G = 1, .K = 8, .V = 8, .window = 33}};
  testing::on_every_target([&] {
    for (const AttentionSizes& sizes : all) {
      SCOPED_TRACE(text(sizes));
      expect_as_reference(make_case(sizes), sizes.T % 2 == 0 ? 0 : 5);
    }
  });
}

TEST(Attention, ReferenceGradientsAreDerivatives) {
  for (const std::size_t window : {0, 3}) {
    const Case c =
        make_case({.B = 2, .T = 5, .S = 7, .H = 4, .G = 2, .K = 3, .V = 2, .window = window});
    const Outputs<double> r = run_reference(c);
    const auto q = testing::to_complex(c.q), k = testing::to_complex(c.k),
               v = testing::to_complex(c.v);
    const auto loss = [&](const auto& q1, const auto& k1, const auto& v1) {
      return testing::dot(meaning<Complex>(c, q1, k1, v1), c.d_o);
    };
    testing::expect_complex_step(
        c.q, r.dq, [&](const auto& x) { return loss(x, k, v); }, "q");
    testing::expect_complex_step(
        c.k, r.dk, [&](const auto& x) { return loss(q, x, v); }, "k");
    testing::expect_complex_step(
        c.v, r.dv, [&](const auto& x) { return loss(q, k, x); }, "v");
  }
}

TEST(Attention, LargeScoresKeepTheirDifferences) {
  // Scores of +-10^4 that are exact in fp32, some of them 1/4 apart.
  Case c = make_case({.B = 1, .T = 130, .S = 130, .H = 1, .G = 1, .K = 8, .V = 8});
  c.scale = 0.25;
  for (std::size_t t = 0; t < 130; ++t)
    for (std::size_t i = 0; i < 8; ++i) {
      c.q[t * 8 + i] = i == 0 ? (t % 3 == 0 ? -200 : 200) : i == 1 ? 1 : 0;
      c.k[t * 8 + i] = i == 0 ? (t % 2 == 0 ? -200 : 200) : i == 1 ? static_cast<double>(t % 5) : 0;
    }
  testing::on_every_target([&] { expect_as_reference(c, 0); });
}

TEST(Attention, ScoresThatGrowAndFallAlongTheKeysStayExact) {
  // The greatest score so far changes in every block, or only in the first.
  for (const double sign : {1.0, -1.0}) {
    Case c = make_case({.B = 1, .T = 300, .S = 300, .H = 1, .G = 1, .K = 8, .V = 8});
    for (std::size_t t = 0; t < 300; ++t) {
      c.q[t * 8] = 8;
      c.k[t * 8] = sign * static_cast<double>(t);
    }
    expect_as_reference(c, 0);
  }
}

TEST(Attention, WhatIsNotSeenDoesNotCount) {
  const AttentionSizes s = {
      .B = 1, .T = 140, .S = 140, .H = 1, .G = 1, .K = 8, .V = 8, .window = 50};
  const Case c = make_case(s);
  const std::vector<float> before = run(c, 0).o;
  // Key and value 70 are seen by the queries 70 .. 119.
  Case other = c;
  for (std::size_t i = 0; i < 8; ++i) other.k[70 * 8 + i] = other.v[70 * 8 + i] = 1e6;
  const std::vector<float> after = run(other, 0).o;
  for (std::size_t t = 0; t < 140; ++t) {
    bool same = true;
    for (std::size_t i = 0; i < 8; ++i) same = same && before[t * 8 + i] == after[t * 8 + i];
    EXPECT_EQ(same, t < 70 || t >= 120) << t;
  }
}

TEST(Attention, NotANumberIsNotHidden) {
  testing::on_every_target([] {
    for (const bool in_query : {true, false}) {
      Case c = make_case({.B = 1, .T = 100, .S = 100, .H = 1, .G = 1, .K = 8, .V = 8});
      (in_query ? c.q : c.k)[20 * 8 + 3] = std::numeric_limits<double>::quiet_NaN();
      const std::vector<float> o = run(c, 0).o;
      EXPECT_FALSE(std::isnan(o[19 * 8]));
      EXPECT_TRUE(std::isnan(o[20 * 8]));
      EXPECT_EQ(std::isnan(o[90 * 8]), !in_query);
    }
  });
}

TEST(Attention, BitsDoNotDependOnThreads) {
  const Case c = make_case({.B = 3, .T = 500, .S = 530, .H = 4, .G = 2, .K = 16, .V = 16});
  testing::expect_same_bits_on_any_threads([&] {
    const Outputs<float> r = run(c, 0);
    return std::vector<std::vector<float>>{r.o, r.dq, r.dk, r.dv};
  });
}

TEST(Attention, SizesThatDoNotFitAreRefused) {
  const std::vector<float> x(64);
  std::vector<float> o(64);
  const AttentionInput<float> in = {.q = {x.data(), 8}, .k = {x.data(), 8}, .v = {x.data(), 8}};
  const auto forward = [&](const AttentionSizes& s) {
    attention_forward(s, in, {o.data(), 8}, nullptr);
  };
  EXPECT_THROW(forward({.B = 1, .T = 2, .S = 1, .H = 1, .G = 1, .K = 8, .V = 8}), UsageError);
  EXPECT_THROW(forward({.B = 1, .T = 2, .S = 2, .H = 3, .G = 2, .K = 2, .V = 2}), UsageError);
  EXPECT_THROW(forward({.B = 1, .T = 0, .S = 0, .H = 1, .G = 1, .K = 8, .V = 8}), UsageError);
  EXPECT_NO_THROW(forward({.B = 1, .T = 2, .S = 2, .H = 1, .G = 1, .K = 8, .V = 8}));
}

}  // namespace
}  // namespace shellgame
