#include "shellgame/kernels/slstm.h"

#include <algorithm>
#include <vector>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/scratch.h"
#include "shellgame/kernels/share_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/slstm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h
#include <hwy/contrib/math/math-inl.h>

#include "shellgame/kernels/fast_math-inl.h"

namespace shellgame {
#ifndef SHELLGAME_KERNELS_SLSTM_ONCE
#define SHELLGAME_KERNELS_SLSTM_ONCE
// What the backward pass needs of one cell, [kSaved][E]: gates after their functions, the new c and
// n, and the slope of log sigmoid(f), negative where the stabiliser took the input gate.
enum SlstmSaved { kInput, kForget, kValue, kOutput, kCell, kNorm, kSlope, kSaved };

struct SlstmForward {
  std::int64_t width, gate_stride;  // E; between the gates of x and of the bias
  const float* x;
  const float* bias;
  const float* recurrent;  // [4][E]: R h
  const float *cell, *norm, *stable;
  float *new_hidden, *new_cell, *new_norm, *new_stable;
  float* saved;  // [kSaved][E] or null
};
struct SlstmBackward {
  std::int64_t width, gate_stride;
  const float* saved;
  const float *cell, *norm;  // before the step
  const float* d_hidden;
  float *d_cell, *d_norm, *d_stable;  // of the new ones in, of those before out
  float* d_x;                         // [4] gates, gate_stride apart
  float* d_raw;                       // [4][E]: the same, side by side
};
#endif
}  // namespace shellgame

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void forward_lanes(D d, const SlstmForward& s, std::int64_t e) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, 1.0F);
  const auto raw = [&](std::int64_t gate) HWY_ATTR {
    const V sum = hn::Add(hn::LoadU(d, s.x + gate * s.gate_stride + e),
                          hn::LoadU(d, s.recurrent + gate * s.width + e));
    return hn::Add(sum, hn::LoadU(d, s.bias + gate * s.gate_stride + e));
  };
  const V i = raw(0), f = raw(1), z = fast::tanh(d, raw(2)), o = fast::sigmoid(d, raw(3));
  const V cell = hn::LoadU(d, s.cell + e), norm = hn::LoadU(d, s.norm + e);
  // log sigmoid(f) = min(f, 0) - log(1 + exp(-|f|))
  const V small = fast::exp(d, hn::Neg(hn::Abs(f)));
  const V log_forget = hn::Sub(hn::Min(f, hn::Zero(d)), hn::Log1p(d, small));
  const V kept = hn::Add(log_forget, hn::LoadU(d, s.stable + e));
  // Before the first step there is nothing to keep.
  const auto input_rules = hn::Or(hn::Ge(i, kept), hn::Eq(norm, hn::Zero(d)));
  const V stable = hn::IfThenElse(input_rules, i, kept);
  const V input = hn::IfThenElse(input_rules, one, fast::exp(d, hn::Sub(i, stable)));
  const V forget =
      hn::IfThenZeroElse(hn::Eq(norm, hn::Zero(d)), fast::exp(d, hn::Sub(kept, stable)));
  const V new_cell = hn::MulAdd(forget, cell, hn::Mul(input, z));
  const V new_norm = hn::MulAdd(forget, norm, input);
  hn::StoreU(hn::Mul(o, hn::Div(new_cell, new_norm)), d, s.new_hidden + e);
  hn::StoreU(new_cell, d, s.new_cell + e);
  hn::StoreU(new_norm, d, s.new_norm + e);
  hn::StoreU(stable, d, s.new_stable + e);
  if (s.saved == nullptr) return;
  // 1 - sigmoid(f), from the exponential that is there already.
  const V slope = hn::Div(hn::IfThenElse(hn::Lt(f, hn::Zero(d)), one, small), hn::Add(one, small));
  const auto save = [&](SlstmSaved which, V value)
                        HWY_ATTR { hn::StoreU(value, d, s.saved + which * s.width + e); };
  save(kInput, input);
  save(kForget, forget);
  save(kValue, z);
  save(kOutput, o);
  save(kCell, new_cell);
  save(kNorm, new_norm);
  save(kSlope, hn::IfThenElse(input_rules, hn::Neg(slope), slope));
}

template <class D>
HWY_INLINE void backward_lanes(D d, const SlstmBackward& s, std::int64_t e) {
  using V = hn::Vec<D>;
  const auto saved = [&](SlstmSaved which)
                         HWY_ATTR { return hn::LoadU(d, s.saved + which * s.width + e); };
  const V one = hn::Set(d, 1.0F);
  const V input = saved(kInput), forget = saved(kForget), z = saved(kValue), o = saved(kOutput);
  const V slope = saved(kSlope), over = hn::Div(one, saved(kNorm));
  const V ratio = hn::Mul(saved(kCell), over), dh = hn::LoadU(d, s.d_hidden + e);
  const V d_output = hn::Mul(dh, ratio), through = hn::Mul(hn::Mul(dh, o), over);
  const V d_cell = hn::Add(hn::LoadU(d, s.d_cell + e), through);
  const V d_norm = hn::NegMulAdd(through, ratio, hn::LoadU(d, s.d_norm + e));
  // By the exponents of the two gates, whose stabiliser is the larger one.
  V d_keep = hn::Mul(forget, hn::MulAdd(d_cell, hn::LoadU(d, s.cell + e),
                                        hn::Mul(d_norm, hn::LoadU(d, s.norm + e))));
  V d_input = hn::Mul(input, hn::MulAdd(d_cell, z, d_norm));
  const V d_stable = hn::Sub(hn::Sub(hn::LoadU(d, s.d_stable + e), d_keep), d_input);
  const auto input_rules = hn::Lt(hn::CopySign(one, slope), hn::Zero(d));
  d_input = hn::Add(d_input, hn::IfThenElseZero(input_rules, d_stable));
  d_keep = hn::Add(d_keep, hn::IfThenZeroElse(input_rules, d_stable));
  hn::StoreU(hn::Mul(d_cell, forget), d, s.d_cell + e);
  hn::StoreU(hn::Mul(d_norm, forget), d, s.d_norm + e);
  hn::StoreU(d_keep, d, s.d_stable + e);
  const auto give = [&](std::int64_t gate, V value) HWY_ATTR {
    hn::StoreU(value, d, s.d_x + gate * s.gate_stride + e);
    hn::StoreU(value, d, s.d_raw + gate * s.width + e);
  };
  give(0, d_input);
  give(1, hn::Mul(d_keep, hn::Abs(slope)));
  give(2, hn::Mul(hn::Mul(d_cell, input), hn::NegMulAdd(z, z, one)));
  give(3, hn::Mul(d_output, hn::Mul(o, hn::Sub(one, o))));
}

void slstm_forward(const SlstmForward& s) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t e = 0;
  for (; e + lanes <= s.width; e += lanes) forward_lanes(d, s, e);
  for (; e < s.width; ++e) forward_lanes(hn::CappedTag<float, 1>(), s, e);
}

void slstm_backward(const SlstmBackward& s) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t e = 0;
  for (; e + lanes <= s.width; e += lanes) backward_lanes(d, s, e);
  for (; e < s.width; ++e) backward_lanes(hn::CappedTag<float, 1>(), s, e);
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(slstm_forward);
HWY_EXPORT(slstm_backward);

namespace {

// Sequences that one thread takes through time together, for one head: a product of several rows
// costs little more than that of one.
constexpr std::int64_t kGroup = 12;

struct Sizes {
  explicit Sizes(const SlstmShape& s)
      : e(s.head_width),
        all(s.heads * s.head_width),
        token(s.x_stride > 0 ? s.x_stride : 4 * all),
        groups((s.batch + kGroup - 1) / kGroup),
        items(static_cast<std::size_t>(s.heads * groups)),
        work(4.0 * static_cast<double>(s.batch * s.time * all * e)) {}
  std::int64_t e, all;  // of a head, of all heads
  std::int64_t token;   // between tokens of x
  std::int64_t groups;
  std::size_t items;  // heads of groups, which are independent
  double work;        // multiplications
};

std::vector<PackedMatrix> pack_heads(const SlstmShape& shape, const float* recurrent, bool back) {
  std::vector<PackedMatrix> packed;
  const std::int64_t e = shape.head_width;
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    const Weight weight = {recurrent + h * 4 * e * e, 4 * e};
    packed.push_back(back ? PackedMatrix::plain({&weight, 1}, e)
                          : PackedMatrix::transposed({&weight, 1}, e));
  }
  return packed;
}

}  // namespace

std::int64_t slstm_saved_size(const SlstmShape& shape) {
  return shape.batch * shape.time * shape.heads * kSaved * shape.head_width;
}

void slstm(const SlstmShape& shape, const float* x, const float* recurrent, const float* bias,
           const float* state, float* y, float* final_state, float* saved) {
  const Sizes z(shape);
  const std::vector<PackedMatrix> packed = pack_heads(shape, recurrent, false);
  share_work(z.items, z.work, [&](std::size_t item) {
    const std::int64_t h = static_cast<std::int64_t>(item) / z.groups;
    const std::int64_t first = static_cast<std::int64_t>(item) % z.groups * kGroup;
    const std::int64_t count = std::min(kGroup, shape.batch - first);
    Scratch now(4 * count * z.e), raw(count * 4 * z.e);  // h, c, n, m of the group's sequences
    const auto part = [&](std::int64_t which, std::int64_t b) {
      return now.data() + (which * count + b) * z.e;
    };
    const auto place = [&](std::int64_t which, std::int64_t b) {
      return ((which * shape.batch + first + b) * shape.heads + h) * z.e;
    };
    for (std::int64_t which = 0; which < 4; ++which) {
      for (std::int64_t b = 0; b < count; ++b) {
        if (state == nullptr) {
          std::fill(part(which, b), part(which, b) + z.e, 0.0F);
        } else {
          std::copy_n(state + place(which, b), z.e, part(which, b));
        }
      }
    }
    for (std::int64_t t = 0; t < shape.time; ++t) {
      gemm_tile(tile_product(count, {part(0, 0), z.e}, packed[static_cast<std::size_t>(h)],
                             {raw.data(), 4 * z.e}));
      for (std::int64_t b = 0; b < count; ++b) {
        const std::int64_t token = (first + b) * shape.time + t;
        SlstmForward s;
        s.width = z.e;
        s.gate_stride = z.all;
        s.x = x + token * z.token + h * z.e;
        s.bias = bias + h * z.e;
        s.recurrent = raw.data() + b * 4 * z.e;
        s.cell = s.new_cell = part(1, b);
        s.norm = s.new_norm = part(2, b);
        s.stable = s.new_stable = part(3, b);
        s.new_hidden = part(0, b);
        s.saved = saved == nullptr ? nullptr : saved + (token * shape.heads + h) * kSaved * z.e;
        HWY_DYNAMIC_DISPATCH(slstm_forward)(s);
        std::copy_n(part(0, b), z.e, y + token * z.all + h * z.e);
      }
    }
    if (final_state == nullptr) return;
    for (std::int64_t which = 0; which < 4; ++which) {
      for (std::int64_t b = 0; b < count; ++b)
        std::copy_n(part(which, b), z.e, final_state + place(which, b));
    }
  });
}

namespace {

// d_recurrent of one gate of one head, [E, E]: sum over tokens of dx (x) the hidden state before;
// and d_bias.
void weight_gradients(const SlstmShape& shape, std::int64_t head, std::int64_t gate,
                      const float* state, const float* y, const float* dx, float* d_recurrent,
                      float* d_bias) {
  constexpr std::int64_t kRows = 96;
  const Sizes z(shape);
  const std::int64_t column = (gate * shape.heads + head) * z.e;
  const Rows g = {d_recurrent + (head * 4 + gate) * z.e * z.e, z.e};
  float* const bias = d_bias + column;
  for (std::int64_t i = 0; i < z.e; ++i) std::fill(g.row(i), g.row(i) + z.e, 0.0F);
  std::fill(bias, bias + z.e, 0.0F);
  Scratch panels(panels_of(z.e) * kPanel * kRows);
  const auto add = [&](std::int64_t rows, ConstRows left, ConstRows before) {
    pack_panels(rows, z.e, before, nullptr, panels.data(), rows);
    gemm_tn_tile({rows, z.e, z.e, left, panels.data(), rows, g, true});
  };
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const ConstRows d = {dx + b * shape.time * z.token + column, z.token};
    const ConstRows hidden = {y + b * shape.time * z.all + head * z.e, z.all};
    if (state != nullptr && shape.time > 0)
      add(1, d, {state + (b * shape.heads + head) * z.e, z.all});
    for (std::int64_t t = 1; t < shape.time; t += kRows)
      add(std::min(kRows, shape.time - t), d.from(t), hidden.from(t - 1));
    for (std::int64_t t = 0; t < shape.time; ++t) {
      for (std::int64_t i = 0; i < z.e; ++i) bias[i] += d.row(t)[i];
    }
  }
}

}  // namespace

void slstm_backward(const SlstmShape& shape, const float* recurrent, const float* state,
                    const float* y, const float* saved, const float* dy, const float* d_final_state,
                    float* dx, float* d_recurrent, float* d_bias, float* d_state) {
  const Sizes z(shape);
  const std::vector<PackedMatrix> packed = pack_heads(shape, recurrent, true);
  const std::vector<float> zeros(static_cast<std::size_t>(z.e));
  share_work(z.items, z.work, [&](std::size_t item) {
    const std::int64_t h = static_cast<std::int64_t>(item) / z.groups;
    const std::int64_t first = static_cast<std::int64_t>(item) % z.groups * kGroup;
    const std::int64_t count = std::min(kGroup, shape.batch - first);
    Scratch now(4 * count * z.e), raw(count * 4 * z.e);  // gradients of h, c, n, m
    const auto part = [&](std::int64_t which, std::int64_t b) {
      return now.data() + (which * count + b) * z.e;
    };
    const auto place = [&](std::int64_t which, std::int64_t b) {
      return ((which * shape.batch + first + b) * shape.heads + h) * z.e;
    };
    for (std::int64_t which = 0; which < 4; ++which) {
      for (std::int64_t b = 0; b < count; ++b) {
        if (d_final_state == nullptr) {
          std::fill(part(which, b), part(which, b) + z.e, 0.0F);
        } else {
          std::copy_n(d_final_state + place(which, b), z.e, part(which, b));
        }
      }
    }
    for (std::int64_t t = shape.time - 1; t >= 0; --t) {
      for (std::int64_t b = 0; b < count; ++b) {
        const std::int64_t token = (first + b) * shape.time + t;
        const float* from_above = dy + token * z.all + h * z.e;
        for (std::int64_t i = 0; i < z.e; ++i) part(0, b)[i] += from_above[i];
        const float* before = saved + ((token - 1) * shape.heads + h) * kSaved * z.e;
        SlstmBackward s;
        s.width = z.e;
        s.gate_stride = z.all;
        s.saved = saved + (token * shape.heads + h) * kSaved * z.e;
        s.cell = t > 0 ? before + kCell * z.e : state ? state + place(1, b) : zeros.data();
        s.norm = t > 0 ? before + kNorm * z.e : state ? state + place(2, b) : zeros.data();
        s.d_hidden = part(0, b);
        s.d_cell = part(1, b);
        s.d_norm = part(2, b);
        s.d_stable = part(3, b);
        s.d_x = dx + token * z.token + h * z.e;
        s.d_raw = raw.data() + b * 4 * z.e;
        HWY_DYNAMIC_DISPATCH(slstm_backward)(s);
      }
      gemm_tile(tile_product(count, {raw.data(), 4 * z.e}, packed[static_cast<std::size_t>(h)],
                             {part(0, 0), z.e}));
    }
    if (d_state == nullptr) return;
    for (std::int64_t which = 0; which < 4; ++which) {
      for (std::int64_t b = 0; b < count; ++b)
        std::copy_n(part(which, b), z.e, d_state + place(which, b));
    }
  });
  share_work(static_cast<std::size_t>(4 * shape.heads), z.work, [&](std::size_t item) {
    const auto i = static_cast<std::int64_t>(item);
    weight_gradients(shape, i / 4, i % 4, state, y, dx, d_recurrent, d_bias);
  });
}

}  // namespace shellgame
#endif  // HWY_ONCE
