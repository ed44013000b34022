// What the tests of the delta rule's kernels share: named tensors, rows with poisoned gaps between
// them, the error metric, derivatives by complex step along a direction.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "shellgame/kernels/row_view.h"
#include "shellgame/kernels/targets.h"
#include "shellgame/system/threads.h"

namespace shellgame::delta_cases {

using Complex = std::complex<double>;

// Dense tensors by name.
template <class Real>
struct Tensors : std::map<std::string, std::vector<Real>> {
  Real* pointer(const std::string& name) {
    return this->contains(name) ? this->at(name).data() : nullptr;
  }
  RowView<Real> rows(const std::string& name, std::size_t width) { return {pointer(name), width}; }
};

template <class To, class From>
Tensors<To> converted(const Tensors<From>& tensors) {
  Tensors<To> result;
  for (const auto& [name, values] : tensors) {
    auto& to = result[name];
    for (const From value : values) to.push_back(static_cast<To>(value));
  }
  return result;
}

// Normal numbers that fp32 can hold, so that all precisions start from the same.
inline std::vector<double> normal(std::size_t size, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> distribution(0, scale);
  std::vector<double> values(size);
  for (double& value : values)
    value = static_cast<double>(static_cast<float>(distribution(engine)));
  return values;
}

inline constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();

// Rows of `width` with a gap after each, which must stay as it was.
class GappedRows {
 public:
  GappedRows(std::size_t rows, std::size_t width, std::size_t gap = 3)
      : rows_(rows), width_(width), stride_(width + gap), values_(rows * stride_, kPoison) {}
  GappedRows(std::size_t rows, std::size_t width, const std::vector<float>& dense)
      : GappedRows(rows, width) {
    for (std::size_t i = 0; i < rows * width; ++i)
      values_[i / width * stride_ + i % width] = dense[i];
  }
  RowView<float> view() { return {values_.data(), stride_}; }
  std::vector<float> dense() const {
    std::vector<float> result;
    for (std::size_t i = 0; i < rows_ * width_; ++i)
      result.push_back(values_[i / width_ * stride_ + i % width_]);
    return result;
  }
  bool gaps_untouched() const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (i % stride_ >= width_ && !std::isnan(values_[i])) return false;
    return true;
  }

 private:
  std::size_t rows_, width_, stride_;
  std::vector<float> values_;
};

template <class Real>
double error_ratio(const std::vector<Real>& got, const std::vector<double>& wanted) {
  EXPECT_EQ(got.size(), wanted.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - wanted[i], 2);
    size += wanted[i] * wanted[i];
  }
  const double count = static_cast<double>(wanted.size());
  return std::sqrt(error / count) / (std::sqrt(size / count) + 1e-8);
}

inline double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

// Every tensor of `wanted` is in `got`, close to it; outputs within 1e-5, gradients (names that
// begin with "d_") within 1e-4. A NaN is close to nothing.
inline void expect_all_close(const Tensors<float>& got, const Tensors<double>& wanted,
                             double looser = 1) {
  for (const auto& [name, values] : wanted) {
    ASSERT_TRUE(got.contains(name)) << name;
    const bool gradient = name.starts_with("d_");
    EXPECT_LT(error_ratio(got.at(name), values), looser * (gradient ? 1e-4 : 1e-5)) << name;
  }
}

inline void expect_gradients_not_zero(const Tensors<double>& wanted) {
  for (const auto& [name, values] : wanted) {
    if (!name.starts_with("d_")) continue;
    EXPECT_GT(sum_of_squares(values), 0) << name << ": a gradient of zero checks nothing";
  }
}

inline void expect_same_bits(const Tensors<float>& a, const Tensors<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, values] : a)
    EXPECT_EQ(std::memcmp(values.data(), b.at(name).data(), values.size() * sizeof(float)), 0)
        << name;
}

// The gradient "d_x" of every input x that has one, against the imaginary part of the loss when x
// goes a tiny step into an imaginary direction; to 1e-10.
inline void expect_complex_step(const Tensors<double>& inputs, const Tensors<double>& gradients,
                                const std::function<Complex(Tensors<Complex>&)>& loss) {
  unsigned seed = 1000;
  for (const auto& [name, values] : inputs) {
    const auto gradient = gradients.find("d_" + name);
    if (gradient == gradients.end()) continue;
    EXPECT_GT(sum_of_squares(gradient->second), 0) << name << ": zero checks nothing";
    const std::vector<double> direction = normal(values.size(), seed++);
    Tensors<Complex> stepped = converted<Complex>(inputs);
    double wanted = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      stepped[name][i] += Complex(0, 1e-100 * direction[i]);
      wanted += gradient->second[i] * direction[i];
    }
    const double got = loss(stepped).imag() / 1e-100;
    EXPECT_NEAR(got, wanted, 1e-10 * std::abs(wanted) + 1e-12) << name;
  }
}

inline void on_every_target(const std::function<void()>& work) {
  for (const std::string& name : simd_targets()) {
    SCOPED_TRACE(name);
    use_simd_target(name);
    work();
  }
  use_best_simd_target();
}

// The same bits from 1, 2 and 3 threads.
inline void expect_same_for_any_threads(const std::function<Tensors<float>()>& work) {
  const int before = thread_count();
  set_thread_count(1);
  const Tensors<float> one = work();
  for (const int count : {2, 3}) {
    set_thread_count(count);
    expect_same_bits(one, work());
  }
  set_thread_count(before);
}

}  // namespace shellgame::delta_cases
