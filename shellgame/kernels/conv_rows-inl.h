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
    return hn::IfThenElseZero(positive, x);
  }
};
struct EluPlusOne {
  static HWY_INLINE FloatVector value(FloatVector x, FloatVector& derivative) {
    const FloatTag d;
    const FloatVector one = hn::Set(d, 1.0f);
    const auto positive = hn::Gt(x, hn::Zero(d));
    derivative = hn::IfThenElse(positive, one, fast_exp(d, hn::Min(x, hn::Zero(d))));
    return hn::IfThenElse(positive, hn::Add(x, one), derivative);
  }
};

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
    for (std::size_t t = 0; t < count; ++t) {
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
