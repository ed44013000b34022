#include "shellgame/kernels/slstm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "shellgame/kernels/slstm_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;

struct Case {
  reference::SlstmSizes sizes;
  std::vector<double> x, recurrent, bias, state, dy, d_state;
};

Case make_case(std::size_t batch, std::size_t time, std::size_t heads, std::size_t width,
               bool with_state) {
  const std::size_t all = heads * width;
  Case c;
  c.sizes = {batch, time, heads, width};
  c.x = testing::random_values(batch * time * 4 * all, 1);
  c.recurrent = testing::random_values(heads * 4 * width * width, 2, 0.4);
  c.bias = testing::random_values(4 * all, 3);
  c.dy = testing::random_values(batch * time * all, 4);
  if (with_state) {
    c.state = testing::random_values(4 * batch * all, 5);
    for (std::size_t i = 2 * batch * all; i < 3 * batch * all; ++i)
      c.state[i] = 0.5 + std::abs(c.state[i]);  // n is positive
    c.d_state = testing::random_values(4 * batch * all, 6);
  }
  return c;
}

struct Outputs {
  std::vector<float> y, state, dx, d_recurrent, d_bias, d_state;
};

Outputs run(const Case& c, std::size_t gap) {
  const auto& s = c.sizes;
  const std::size_t all = s.heads * s.width, tokens = s.batch * s.time;
  testing::StridedRows x(tokens, 4 * all, gap, c.x), dx(tokens, 4 * all, gap);
  const auto recurrent = testing::to_float(c.recurrent), bias = testing::to_float(c.bias),
             state = testing::to_float(c.state), dy = testing::to_float(c.dy),
             d_final = testing::to_float(c.d_state);
  const SlstmShape shape = {static_cast<std::int64_t>(s.batch), static_cast<std::int64_t>(s.time),
                            static_cast<std::int64_t>(s.heads), static_cast<std::int64_t>(s.width),
                            x.view().stride};
  Outputs o;
  o.y = testing::poisoned(tokens * all);
  o.state = testing::poisoned(4 * s.batch * all);
  o.d_recurrent = testing::poisoned(recurrent.size());
  o.d_bias = testing::poisoned(bias.size());
  o.d_state = testing::poisoned(4 * s.batch * all);
  auto saved = testing::poisoned(static_cast<std::size_t>(slstm_saved_size(shape)));
  slstm(shape, x.view().data, recurrent.data(), bias.data(), state.empty() ? nullptr : state.data(),
        o.y.data(), o.state.data(), saved.data());
  slstm_backward(shape, recurrent.data(), state.empty() ? nullptr : state.data(), o.y.data(),
                 saved.data(), dy.data(), d_final.empty() ? nullptr : d_final.data(),
                 dx.view().data, o.d_recurrent.data(), o.d_bias.data(), o.d_state.data());
  EXPECT_TRUE(dx.gaps_untouched());
  o.dx = dx.dense();
  return o;
}

TEST(Slstm, ReferenceGradientsAgreeWithComplexStep) {
  for (const bool with_state : {false, true}) {
    const Case c = make_case(2, 4, 2, 3, with_state);
    const auto d =
        reference::slstm_backward(c.sizes, c.x, c.recurrent, c.bias, c.state, c.dy, c.d_state);
    const auto x = testing::to_complex(c.x), recurrent = testing::to_complex(c.recurrent),
               bias = testing::to_complex(c.bias), state = testing::to_complex(c.state);
    const auto loss = [&](const std::vector<Complex>& x1, const std::vector<Complex>& r1,
                          const std::vector<Complex>& b1, const std::vector<Complex>& s1) {
      const auto result = reference::slstm(c.sizes, x1, r1, b1, s1);
      return testing::dot(result.y, c.dy) +
             (with_state ? testing::dot(result.state, c.d_state) : Complex(0));
    };
    testing::expect_complex_step(
        c.x, d.x, [&](auto& v) { return loss(v, recurrent, bias, state); }, "x");
    testing::expect_complex_step(
        c.recurrent, d.recurrent, [&](auto& v) { return loss(x, v, bias, state); }, "recurrent");
    testing::expect_complex_step(
        c.bias, d.bias, [&](auto& v) { return loss(x, recurrent, v, state); }, "bias");
    if (with_state)
      testing::expect_complex_step(
          c.state, d.state, [&](auto& v) { return loss(x, recurrent, bias, v); }, "state");
  }
}

TEST(Slstm, FastFormsFollowTheReferenceOnEveryTarget) {
  testing::on_every_target([] {
    for (const std::size_t batch : {1, 3, 13})
      for (const std::size_t time : {1, 2, 9})
        for (const std::size_t width : {1, 3, 8, 17})
          for (const bool with_state : {false, true}) {
            SCOPED_TRACE(fmt::format("B {} T {} E {}", batch, time, width));
            const Case c = make_case(batch, time, 2, width, with_state);
            const Outputs o = run(c, batch == 3 ? 5 : 0);
            const auto wanted = reference::slstm(c.sizes, c.x, c.recurrent, c.bias, c.state);
            testing::expect_close(o.y, wanted.y, testing::kForward, "y");
            testing::expect_close(o.state, wanted.state, testing::kForward, "state");
            const auto d = reference::slstm_backward(c.sizes, c.x, c.recurrent, c.bias, c.state,
                                                     c.dy, c.d_state);
            testing::expect_gradient(o.dx, d.x, "x");
            testing::expect_gradient(o.d_bias, d.bias, "bias");
            if (with_state) testing::expect_gradient(o.d_state, d.state, "state");
            if (with_state || time > 1)
              testing::expect_gradient(o.d_recurrent, d.recurrent, "recurrent");
          }
  });
}

TEST(Slstm, ExtremeGatesStayFinite) {
  Case c = make_case(2, 30, 1, 8, false);
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] *= 200;
  const Outputs o = run(c, 0);
  for (const auto* values : {&o.y, &o.dx, &o.d_recurrent, &o.d_bias})
    for (const float value : *values) ASSERT_TRUE(std::isfinite(value));
}

TEST(Slstm, TwoHalvesWithTheStateBetweenEqualTheWhole) {
  const Case c = make_case(1, 8, 2, 5, false);
  const Outputs whole = run(c, 0);
  Case first = c, second = c;
  first.sizes.time = second.sizes.time = 4;
  first.x.resize(c.x.size() / 2);
  first.dy.resize(c.dy.size() / 2);
  second.x.erase(second.x.begin(), second.x.begin() + static_cast<std::ptrdiff_t>(c.x.size() / 2));
  second.dy.resize(c.dy.size() / 2);
  const Outputs begin = run(first, 0);
  second.state.assign(begin.state.begin(), begin.state.end());
  const Outputs end = run(second, 0);
  testing::expect_same_bits({whole.y.begin() + 40, whole.y.end()}, end.y, "second half");
}

// The cell of the xlstm package, run by itself.
TEST(Slstm, ReproducesTheXlstmPackage) {
  std::ifstream file(std::string(SHELLGAME_TEST_DATA) + "/kernels/slstm.safetensors",
                     std::ios::binary);
  ASSERT_TRUE(file);
  std::uint64_t size = 0;
  file.read(reinterpret_cast<char*>(&size), 8);
  std::string text(size, ' ');
  file.read(text.data(), static_cast<std::streamsize>(size));
  const auto header = nlohmann::json::parse(text);
  const auto read = [&](const char* name) {
    const std::size_t begin = header[name]["data_offsets"][0],
                      end = header[name]["data_offsets"][1];
    std::vector<float> values((end - begin) / sizeof(float));
    file.seekg(static_cast<std::streamoff>(8 + size + begin));
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(end - begin));
    return std::vector<double>(values.begin(), values.end());
  };
  const std::size_t batch = 3, time = 40, heads = 4, width = 8;
  // Theirs is [B, H, T, E], ours [B, T, H, E].
  const auto to_ours = [&](const std::vector<double>& theirs) {
    std::vector<double> ours(theirs.size());
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t t = 0; t < time; ++t)
        for (std::size_t h = 0; h < heads; ++h)
          for (std::size_t e = 0; e < width; ++e)
            ours[((b * time + t) * heads + h) * width + e] =
                theirs[((b * heads + h) * time + t) * width + e];
    return ours;
  };
  Case c;
  c.sizes = {batch, time, heads, width};
  c.x = read("x");
  c.recurrent = read("_recurrent_kernel_");
  c.bias = read("_bias_");
  c.dy = to_ours(read("d_y"));
  const Outputs o = run(c, 0);
  testing::expect_close(o.y, to_ours(read("y")), testing::kForward, "y");
  testing::expect_gradient(o.dx, read("d_x"), "x");
  testing::expect_gradient(o.d_recurrent, read("d__recurrent_kernel_"), "recurrent");
  testing::expect_gradient(o.d_bias, read("d__bias_"), "bias");
}

TEST(Slstm, BitsDoNotDependOnThreads) {
  const Case c = make_case(30, 20, 3, 16, true);
  testing::expect_same_bits_on_any_threads([&] {
    const Outputs o = run(c, 0);
    return std::vector<std::vector<float>>{o.y, o.state, o.dx, o.d_recurrent, o.d_bias, o.d_state};
  });
}

}  // namespace
}  // namespace shellgame
