// What tests of kernels share: the one error metric, random and poisoned buffers with row strides,
// a run on every instruction set and number of threads, derivatives by complex step.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "shellgame/kernels/gemm.h"
#include "shellgame/kernels/targets.h"
#include "shellgame/system/threads.h"

namespace shellgame::testing {

inline std::vector<double> random_values(std::size_t size, unsigned seed, double scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> values(size);
  // Representable in fp32, so that both sides start from the same numbers.
  for (double& value : values) value = static_cast<double>(static_cast<float>(normal(engine)));
  return values;
}

inline std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}
inline std::vector<std::complex<double>> to_complex(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// A matrix with a row stride; what lies between its rows must stay what it was.
class StridedRows {
 public:
  StridedRows(std::size_t rows, std::size_t width, std::size_t gap)
      : rows_(rows), width_(width), stride_(width + gap), values_(rows * stride_ + 1, poison()) {}
  StridedRows(std::size_t rows, std::size_t width, std::size_t gap,
              const std::vector<double>& values)
      : StridedRows(rows, width, gap) {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < width; ++j)
        values_[r * stride_ + j] = static_cast<float>(values[r * width + j]);
  }

  Rows view() { return {values_.data(), static_cast<std::int64_t>(stride_)}; }
  std::vector<float> dense() const {
    std::vector<float> dense;
    for (std::size_t r = 0; r < rows_; ++r)
      dense.insert(dense.end(), values_.begin() + static_cast<std::ptrdiff_t>(r * stride_),
                   values_.begin() + static_cast<std::ptrdiff_t>(r * stride_ + width_));
    return dense;
  }
  bool gaps_untouched() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if ((i / stride_ >= rows_ || i % stride_ >= width_) && !std::isnan(values_[i])) return false;
    }
    return true;
  }

  static float poison() { return std::numeric_limits<float>::quiet_NaN(); }

 private:
  std::size_t rows_, width_, stride_;
  std::vector<float> values_;
};

inline std::vector<float> poisoned(std::size_t size) {
  return std::vector<float>(size, StridedRows::poison());
}

template <class A>
double rms_ratio(const std::vector<A>& got, const std::vector<double>& wanted) {
  EXPECT_EQ(got.size(), wanted.size());
  double error = 0, size = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = static_cast<double>(got[i]) - wanted[i];
    error += difference * difference;
    size += wanted[i] * wanted[i];
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, wanted.size()));
  return std::sqrt(error / count) / (std::sqrt(size / count) + 1e-8);
}

constexpr double kForward = 1e-5, kGradient = 1e-4;

// A NaN anywhere makes the ratio NaN, which is not below anything.
template <class A>
void expect_close(const std::vector<A>& got, const std::vector<double>& wanted, double tolerance,
                  const std::string& what) {
  EXPECT_LT(rms_ratio(got, wanted), tolerance) << what;
}

template <class A>
void expect_gradient(const std::vector<A>& got, const std::vector<double>& wanted,
                     const std::string& what) {
  double size = 0;
  for (const double value : wanted) size += value * value;
  EXPECT_GT(size, 0) << what << ": a gradient of zero checks nothing";
  expect_close(got, wanted, kGradient, what);
}

inline void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b,
                             const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) << what;
}

// For every instruction set that the machine has.
inline void on_every_target(const std::function<void()>& work) {
  for (const std::string& name : simd_targets()) {
    SCOPED_TRACE(name);
    use_simd_target(name);
    work();
  }
  use_best_simd_target();
}

// `work` returns all its outputs; they must be the same bits on 1, 2 and 3 threads.
inline void expect_same_bits_on_any_threads(
    const std::function<std::vector<std::vector<float>>()>& work) {
  const int before = thread_count();
  set_thread_count(1);
  const auto one = work();
  for (const int threads : {2, 3}) {
    set_thread_count(threads);
    const auto more = work();
    ASSERT_EQ(one.size(), more.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      expect_same_bits(one[i], more[i], "output " + std::to_string(i));
  }
  set_thread_count(before);
}

using Complex = std::complex<double>;

// The derivative of f along `direction` at `at` by complex step, against gradient . direction, for
// some random directions.
inline void expect_complex_step(const std::vector<double>& at, const std::vector<double>& gradient,
                                const std::function<Complex(const std::vector<Complex>&)>& f,
                                const std::string& what) {
  ASSERT_EQ(at.size(), gradient.size()) << what;
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::vector<double> direction = random_values(at.size(), 1000 + seed);
    std::vector<Complex> moved(at.size());
    double wanted = 0;
    constexpr double kStep = 1e-30;
    for (std::size_t i = 0; i < at.size(); ++i) {
      moved[i] = {at[i], kStep * direction[i]};
      wanted += gradient[i] * direction[i];
    }
    const double got = f(moved).imag() / kStep;
    EXPECT_NE(got, 0) << what;
    EXPECT_NEAR(got, wanted, 1e-10 * (1 + std::abs(got))) << what;
  }
}

template <class Real>
Real dot(const std::vector<Real>& a, const std::vector<double>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * Real(b[i]);
  return sum;
}

}  // namespace shellgame::testing
