#include "shellgame/kernels/gated_cells.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "shellgame/kernels/gated_cells_reference.h"
#include "tests/support/kernel_checks.h"

namespace shellgame {
namespace {

using testing::Complex;

enum class Cell { kLstm, kGru, kTanh };

const char* name_of(Cell cell) {
  return cell == Cell::kLstm ? "LSTM" : cell == Cell::kGru ? "GRU" : "tanh RNN";
}

struct Case {
  Cell cell = Cell::kLstm;
  std::size_t batch = 0, time = 0, width = 0;
  std::vector<double> x = {}, recurrent = {}, bias = {}, state = {}, dy = {}, d_state = {};

  std::size_t gates() const { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }
  std::size_t states() const { return cell == Cell::kLstm ? 2 : 1; }
};

Case make_case(Cell cell, std::size_t batch, std::size_t time, std::size_t width, bool with_state) {
  Case c{.cell = cell, .batch = batch, .time = time, .width = width};
  c.x = testing::random_values(batch * time * c.gates() * width, 1);
  c.recurrent = testing::random_values(c.gates() * width * width, 2, 0.4);
  if (cell == Cell::kGru) c.bias = testing::random_values(3 * width, 3);
  c.dy = testing::random_values(batch * time * width, 4);
  if (with_state) {
    c.state = testing::random_values(c.states() * batch * width, 5);
    c.d_state = testing::random_values(c.states() * batch * width, 6);
  }
  return c;
}

template <class Real>
reference::CellResult<Real> meaning(const Case& c, const std::vector<Real>& x,
                                    const std::vector<Real>& recurrent,
                                    const std::vector<Real>& bias, const std::vector<Real>& state) {
  if (c.cell == Cell::kTanh)
    return reference::tanh_rnn(c.batch, c.time, c.width, x, recurrent, state);
  return c.cell == Cell::kLstm
             ? reference::lstm(c.batch, c.time, c.width, x, recurrent, state)
             : reference::gru(c.batch, c.time, c.width, x, recurrent, bias, state);
}

struct Outputs {
  std::vector<float> y, state, dx, d_recurrent, d_bias, d_state;
};

Outputs run(const Case& c, std::size_t gap) {
  const std::size_t tokens = c.batch * c.time, row = c.gates() * c.width;
  testing::StridedRows x(tokens, row, gap, c.x), dx(tokens, row, gap);
  const auto recurrent = testing::to_float(c.recurrent), bias = testing::to_float(c.bias),
             state = testing::to_float(c.state), dy = testing::to_float(c.dy),
             d_final = testing::to_float(c.d_state);
  const CellShape shape = {static_cast<std::int64_t>(c.batch), static_cast<std::int64_t>(c.time), 1,
                           static_cast<std::int64_t>(c.width), x.view().stride};
  Outputs o;
  o.y = testing::poisoned(tokens * c.width);
  o.state = testing::poisoned(c.states() * c.batch * c.width);
  o.d_recurrent = testing::poisoned(recurrent.size());
  o.d_bias = testing::poisoned(bias.size());
  o.d_state = testing::poisoned(o.state.size());
  const float* const start = state.empty() ? nullptr : state.data();
  const float* const d_last = d_final.empty() ? nullptr : d_final.data();
  if (c.cell == Cell::kLstm) {
    auto saved = testing::poisoned(static_cast<std::size_t>(lstm_saved_size(shape)));
    lstm(shape, x.view().data, recurrent.data(), start, o.y.data(), o.state.data(), saved.data());
    lstm_backward(shape, recurrent.data(), start, o.y.data(), saved.data(), dy.data(), d_last,
                  dx.view().data, o.d_recurrent.data(), o.d_state.data());
  } else if (c.cell == Cell::kTanh) {
    auto saved = testing::poisoned(static_cast<std::size_t>(tanh_rnn_saved_size(shape)));
    tanh_rnn(shape, x.view().data, recurrent.data(), start, o.y.data(), o.state.data(),
             saved.data());
    tanh_rnn_backward(shape, recurrent.data(), start, o.y.data(), saved.data(), dy.data(), d_last,
                      dx.view().data, o.d_recurrent.data(), o.d_state.data());
  } else {
    auto saved = testing::poisoned(static_cast<std::size_t>(gru_saved_size(shape)));
    gru(shape, x.view().data, recurrent.data(), bias.data(), start, o.y.data(), o.state.data(),
        saved.data());
    gru_backward(shape, recurrent.data(), start, o.y.data(), saved.data(), dy.data(), d_last,
                 dx.view().data, o.d_recurrent.data(), o.d_bias.data(), o.d_state.data());
  }
  EXPECT_TRUE(dx.gaps_untouched());
  o.dx = dx.dense();
  return o;
}

// The derivative of f by each of the numbers, by complex step.
std::vector<double> derivatives(const std::vector<double>& at, const auto& f) {
  std::vector<Complex> moved = testing::to_complex(at);
  std::vector<double> result;
  for (Complex& value : moved) {
    value += Complex(0, 1e-30);
    result.push_back(f(moved).imag() / 1e-30);
    value = value.real();
  }
  return result;
}

TEST(GatedCells, FollowTheirReferencesOnEveryTarget) {
  testing::on_every_target([] {
    for (const Cell cell : {Cell::kLstm, Cell::kGru, Cell::kTanh})
      for (const std::size_t batch : {1, 3, 13})
        for (const std::size_t time : {1, 9})
          for (const std::size_t width : {1, 8, 17})
            for (const bool with_state : {false, true}) {
              SCOPED_TRACE(fmt::format("{} B {} T {} E {}", name_of(cell), batch, time, width));
              const Case c = make_case(cell, batch, time, width, with_state);
              const Outputs o = run(c, batch == 3 ? 5 : 0);
              const auto wanted = meaning(c, c.x, c.recurrent, c.bias, c.state);
              testing::expect_close(o.y, wanted.y, testing::kForward, "y");
              testing::expect_close(o.state, wanted.state, testing::kForward, "state");
            }
  });
}

TEST(GatedCells, GradientsAreTheDerivativesOfTheReferences) {
  for (const Cell cell : {Cell::kLstm, Cell::kGru, Cell::kTanh})
    for (const bool with_state : {false, true}) {
      SCOPED_TRACE(name_of(cell));
      const Case c = make_case(cell, 3, 4, 5, with_state);
      const Outputs o = run(c, 2);
      const auto x = testing::to_complex(c.x), recurrent = testing::to_complex(c.recurrent),
                 bias = testing::to_complex(c.bias), state = testing::to_complex(c.state);
      const auto loss = [&](const auto& x1, const auto& r1, const auto& b1, const auto& s1) {
        const auto result = meaning(c, x1, r1, b1, s1);
        return testing::dot(result.y, c.dy) +
               (with_state ? testing::dot(result.state, c.d_state) : Complex(0));
      };
      testing::expect_gradient(
          o.dx, derivatives(c.x, [&](const auto& v) { return loss(v, recurrent, bias, state); }),
          "x");
      testing::expect_gradient(
          o.d_recurrent,
          derivatives(c.recurrent, [&](const auto& v) { return loss(x, v, bias, state); }),
          "recurrent");
      if (cell == Cell::kGru)
        testing::expect_gradient(
            o.d_bias,
            derivatives(c.bias, [&](const auto& v) { return loss(x, recurrent, v, state); }),
            "bias");
      if (with_state)
        testing::expect_gradient(
            o.d_state,
            derivatives(c.state, [&](const auto& v) { return loss(x, recurrent, bias, v); }),
            "state");
    }
}

TEST(GatedCells, ExtremeGatesStayFinite) {
  for (const Cell cell : {Cell::kLstm, Cell::kGru, Cell::kTanh}) {
    Case c = make_case(cell, 2, 30, 8, false);
    for (double& value : c.x) value *= 200;
    const Outputs o = run(c, 0);
    for (const auto* values : {&o.y, &o.dx, &o.d_recurrent, &o.d_bias})
      for (const float value : *values) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(GatedCells, BitsDoNotDependOnThreads) {
  for (const Cell cell : {Cell::kLstm, Cell::kGru, Cell::kTanh}) {
    const Case c = make_case(cell, 30, 20, 48, true);
    testing::expect_same_bits_on_any_threads([&] {
      const Outputs o = run(c, 0);
      return std::vector<std::vector<float>>{o.y,           o.state,  o.dx,
                                             o.d_recurrent, o.d_bias, o.d_state};
    });
  }
}

}  // namespace
}  // namespace shellgame
