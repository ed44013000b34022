// Short causal convolution over rows, with the activation that follows, and its gradient, on the
// channels of one head, for one Highway target. Rows are given by pointers, so that those before
// the first token may be a kept state. Included once by each target, as small_matrix-inl.h.
#if defined(SHELLGAME_KERNELS_CONV_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHELLGAME_KERNELS_CONV_ROWS_INL_H_
#undef SHELLGAME_KERNELS_CONV_ROWS_INL_H_
#else
#define SHELLGAME_KERNELS_CONV_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "shellgame/kernels/small_matrix-inl.h"
#include "shellgame/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {

// The first n values (or a whole vector, if n is larger); zeros after them. Never touches more.
HWY_INLINE FloatVector load_part(const float* from, std::size_t n) {
  const FloatTag d;
  if (HWY_LIKELY(n >= hn::Lanes(d))) return hn::LoadU(d, from);
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(from, n, part);
  return hn::Load(d, part);
}

HWY_INLINE void store_part(FloatVector value, float* to, std::size_t n) {
  const FloatTag d;
  if (HWY_LIKELY(n >= hn::Lanes(d))) {
    hn::StoreU(value, d, to);
    return;
  }
  HWY_ALIGN float part[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(value, d, part);
  std::copy_n(part, n, to);
}

// Activations: the value, and the derivative at the same place.
struct Silu {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    const FloatTag d;
    const FloatVector sigmoid = fast_sigmoid(d, x);
    const FloatVector y = hn::Mul(x, sigmoid);
    // s (1 + x (1 - s)) = s + y (1 - s)
    derivative = hn::MulAdd(y, hn::Sub(hn::Set(d, 1.0f), sigmoid), sigmoid);
    return y;
  }
};
struct Sigmoid {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    const FloatTag d;
    const FloatVector y = fast_sigmoid(d, x);
    derivative = hn::NegMulAdd(y, y, y);
    return y;
  }
};
struct Identity {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    derivative = hn::Set(FloatTag(), 1.0f);
    return x;
  }
};
struct Relu {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    const FloatTag d;
    const auto positive = hn::Gt(x, hn::Zero(d));
    derivative = hn::IfThenElseZero(positive, hn::Set(d, 1.0f));
    return nan_or(x, hn::IfThenElseZero(positive, x));
  }
};
struct EluPlusOne {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    const FloatTag d;
    const FloatVector one = hn::Set(d, 1.0f);
    const auto positive = hn::Gt(x, hn::Zero(d));
    const FloatVector below = hn::IfThenElse(positive, one, fast_exp(d, hn::Min(x, hn::Zero(d))));
    derivative = nan_or(x, below);
    return hn::IfThenElse(positive, hn::Add(x, one), derivative);
  }
};

// Both values at once, where that is cheaper.
template <class Activation>
HWY_INLINE void activate(FloatVector& x0, FloatVector& x1, FloatVector& derivative0,
                         FloatVector& derivative1) {
  if constexpr (std::is_same_v<Activation, Silu>) {
    const FloatTag d;
    const FloatVector one = hn::Set(d, 1.0f);
    FloatVector s0, s1;
    fast_sigmoids(d, x0, x1, s0, s1);
    x0 = hn::Mul(x0, s0);
    x1 = hn::Mul(x1, s1);
    derivative0 = hn::MulAdd(x0, hn::Sub(one, s0), s0);
    derivative1 = hn::MulAdd(x1, hn::Sub(one, s1), s1);
  } else {
    x0 = Activation::value(x0, derivative0);
    x1 = Activation::value(x1, derivative1);
  }
}

// Four tokens of conv_forward at once for four taps: whole vectors only. Gives how many were done.
template <class Activation>
HWY_INLINE std::size_t conv_forward_fours(std::size_t count, const float* const* x, std::size_t j,
                                          const FloatVector (&tap)[4], FloatVector start,
                                          std::size_t distance, float* out, float* derivatives) {
  const FloatTag d;
  FloatVector a = hn::LoadU(d, x[-3] + j), b = hn::LoadU(d, x[-2] + j), c = hn::LoadU(d, x[-1] + j);
  std::size_t t = 0;
  for (; t + 4 <= count; t += 4) {
    FloatVector y[4], dy[4];
    const FloatVector x0 = hn::LoadU(d, x[t] + j), x1 = hn::LoadU(d, x[t + 1] + j);
    const FloatVector x2 = hn::LoadU(d, x[t + 2] + j), x3 = hn::LoadU(d, x[t + 3] + j);
    const auto sum = [&](FloatVector p, FloatVector q, FloatVector r, FloatVector s) HWY_ATTR {
      return hn::MulAdd(tap[3], s,
                        hn::MulAdd(tap[2], r, hn::MulAdd(tap[1], q, hn::MulAdd(tap[0], p, start))));
    };
    y[0] = sum(a, b, c, x0);
    y[1] = sum(b, c, x0, x1);
    y[2] = sum(c, x0, x1, x2);
    y[3] = sum(x0, x1, x2, x3);
    a = x1;
    b = x2;
    c = x3;
    activate<Activation>(y[0], y[1], dy[0], dy[1]);
    activate<Activation>(y[2], y[3], dy[2], dy[3]);
    for (std::size_t i = 0; i < 4; ++i) {
      hn::Store(y[i], d, out + (t + i) * distance + j);
      if (derivatives) hn::Store(dy[i], d, derivatives + (t + i) * distance + j);
    }
  }
  return t;
}

// out[t] = activation(bias + sum_i taps[i] x[t - W + 1 + i]) for t < count, and its derivative if
// it is wanted. x[t] points to the row of token t, from t = -(W-1) on; taps is [W, distance].
template <int kW, class Activation>
HWY_NOINLINE void conv_forward(std::size_t any_W, std::size_t count, std::size_t width,
                               const float* const* x, const float* taps, std::size_t distance,
                               const float* bias, float* out, float* derivatives) {
  const FloatTag d;
  const std::size_t W = kW ? kW : any_W;
  for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
    const std::size_t n = width - j;
    FloatVector tap[kW ? kW : 1], past[kW ? kW : 1];
    const FloatVector start = bias ? hn::Load(d, bias + j) : hn::Zero(d);
    if constexpr (kW > 0)
      for (std::ptrdiff_t i = 0; i < kW; ++i) {
        tap[i] = hn::Load(d, taps + static_cast<std::size_t>(i) * distance + j);
        past[i] = i > 0 ? load_part(x[i - kW] + j, n) : hn::Zero(d);
      }
    std::size_t t = 0;
    if constexpr (kW == 4) {
      if (HWY_LIKELY(n >= hn::Lanes(d) && count >= 4)) {
        t = conv_forward_fours<Activation>(count, x, j, tap, start, distance, out, derivatives);
        for (std::ptrdiff_t i = 1; i < kW; ++i)
          past[i] = hn::LoadU(d, x[static_cast<std::ptrdiff_t>(t) + i - kW] + j);
      }
    }
    for (; t < count; ++t) {
      FloatVector y = start;
      if constexpr (kW > 0) {
        for (int i = 0; i + 1 < kW; ++i) past[i] = past[i + 1];
        past[kW - 1] = load_part(x[t] + j, n);
        for (int i = 0; i < kW; ++i) y = hn::MulAdd(tap[i], past[i], y);
      } else {
        const float* const* row = x + t;
        for (std::size_t i = 0; i < W; ++i)
          y = hn::MulAdd(hn::Load(d, taps + (W - 1 - i) * distance + j),
                         load_part(*(row - i) + j, n), y);
      }
      FloatVector derivative;
      y = Activation::value(y, derivative);
      if (n < hn::Lanes(d)) y = hn::IfThenElseZero(hn::FirstN(d, n), y);
      hn::Store(y, d, out + t * distance + j);
      if (derivatives) hn::Store(derivative, d, derivatives + t * distance + j);
    }
  }
}

// From dy [count + W - 1, distance], the gradient before the activation (its last rows are those of
// the tokens that follow): dx, one pointer for each token, and taps' gradient, which is added to.
template <int kW>
HWY_NOINLINE void conv_backward(std::size_t any_W, std::size_t count, std::size_t width,
                                const float* const* x, const float* taps, std::size_t distance,
                                const float* dy, float* const* dx, float* dtaps) {
  const FloatTag d;
  const std::size_t W = kW ? kW : any_W;
  for (std::size_t j = 0; j < width; j += hn::Lanes(d)) {
    const std::size_t n = width - j;
    if constexpr (kW > 0) {
      FloatVector tap[kW], dtap[kW], past[kW], later[kW];
      for (std::ptrdiff_t i = 0; i < kW; ++i) {
        tap[i] = hn::Load(d, taps + static_cast<std::size_t>(i) * distance + j);
        dtap[i] = hn::Load(d, dtaps + static_cast<std::size_t>(i) * distance + j);
        past[i] = i > 0 ? load_part(x[i - kW] + j, n) : hn::Zero(d);
        later[i] =
            i > 0 ? hn::Load(d, dy + static_cast<std::size_t>(i - 1) * distance + j) : hn::Zero(d);
      }
      for (std::size_t t = 0; t < count; ++t) {
        for (int i = 0; i + 1 < kW; ++i) {
          past[i] = past[i + 1];
          later[i] = later[i + 1];
        }
        past[kW - 1] = load_part(x[t] + j, n);
        later[kW - 1] = hn::Load(d, dy + (t + kW - 1) * distance + j);
        FloatVector sum = hn::Mul(tap[kW - 1], later[0]);
        for (int i = 1; i < kW; ++i) sum = hn::MulAdd(tap[kW - 1 - i], later[i], sum);
        for (int i = 0; i < kW; ++i) dtap[i] = hn::MulAdd(later[0], past[i], dtap[i]);
        if (dx) store_part(sum, dx[t] + j, n);
      }
      for (std::size_t i = 0; i < kW; ++i) hn::Store(dtap[i], d, dtaps + i * distance + j);
    } else {
      for (std::size_t t = 0; t < count; ++t) {
        FloatVector sum = hn::Zero(d);
        const FloatVector own = hn::Load(d, dy + t * distance + j);
        for (std::size_t i = 0; i < W; ++i) {
          const std::size_t place = (W - 1 - i) * distance + j;
          sum =
              hn::MulAdd(hn::Load(d, taps + place), hn::Load(d, dy + (t + i) * distance + j), sum);
          const FloatVector input = load_part(*(x + t - i) + j, n);
          hn::Store(hn::MulAdd(own, input, hn::Load(d, dtaps + place)), d, dtaps + place);
        }
        if (dx) store_part(sum, dx[t] + j, n);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#endif
