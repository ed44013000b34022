#include "shellgame/kernels/slstm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/slstm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h
#include <hwy/contrib/math/math-inl.h>

#include "shellgame/kernels/cell_lanes-inl.h"
#include "shellgame/kernels/fast_math-inl.h"

namespace shellgame {
#ifndef SHELLGAME_KERNELS_SLSTM_ONCE
#define SHELLGAME_KERNELS_SLSTM_ONCE
// What the backward pass needs of one cell, [kSaved][E]: gates after their functions, the new c and
// n, and the slope of log sigmoid(f), negative where the stabiliser took the input gate.
enum SlstmSaved { kInput, kForget, kValue, kOutput, kCell, kNorm, kSlope, kSaved };
#endif
}  // namespace shellgame

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct SlstmStep {
  template <class D>
  static HWY_INLINE void forward(D d, const CellForward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const V one = hn::Set(d, 1.0F);
    const auto raw = [&](std::int64_t gate) HWY_ATTR {
      const V sum = hn::Add(hn::LoadU(d, s.x + gate * s.gate_stride + e),
                            hn::LoadU(d, s.recurrent + gate * s.width + e));
      return hn::Add(sum, hn::LoadU(d, s.bias + gate * s.gate_stride + e));
    };
    const V i = raw(0), f = raw(1), z = fast::tanh(d, raw(2)), o = fast::sigmoid(d, raw(3));
    const V cell = hn::LoadU(d, s.states[1] + e), norm = hn::LoadU(d, s.states[2] + e);
    // log sigmoid(f) = min(f, 0) - log(1 + exp(-|f|))
    const V small = fast::exp(d, hn::Neg(hn::Abs(f)));
    const V log_forget = hn::Sub(hn::Min(f, hn::Zero(d)), hn::Log1p(d, small));
    const V kept = hn::Add(log_forget, hn::LoadU(d, s.states[3] + e));
    // Before the first step there is nothing to keep.
    const auto input_rules = hn::Or(hn::Ge(i, kept), hn::Eq(norm, hn::Zero(d)));
    const V stable = hn::IfThenElse(input_rules, i, kept);
    const V input = nan_or(i, hn::IfThenElse(input_rules, one, fast::exp(d, hn::Sub(i, stable))));
    const V forget = nan_or(
        f, hn::IfThenZeroElse(hn::Eq(norm, hn::Zero(d)), fast::exp(d, hn::Sub(kept, stable))));
    const V new_cell = hn::MulAdd(forget, cell, hn::Mul(input, z));
    const V new_norm = hn::MulAdd(forget, norm, input);
    hn::StoreU(hn::Mul(o, hn::Div(new_cell, new_norm)), d, s.states[0] + e);
    hn::StoreU(new_cell, d, s.states[1] + e);
    hn::StoreU(new_norm, d, s.states[2] + e);
    hn::StoreU(stable, d, s.states[3] + e);
    if (s.saved == nullptr) return;
    // 1 - sigmoid(f), from the exponential that is there already.
    const V slope =
        hn::Div(hn::IfThenElse(hn::Lt(f, hn::Zero(d)), one, small), hn::Add(one, small));
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
  static HWY_INLINE void backward(D d, const CellBackward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const auto saved = [&](SlstmSaved which)
                           HWY_ATTR { return hn::LoadU(d, s.saved + which * s.width + e); };
    const V one = hn::Set(d, 1.0F);
    const V input = saved(kInput), forget = saved(kForget), z = saved(kValue), o = saved(kOutput);
    const V slope = saved(kSlope), over = hn::Div(one, saved(kNorm));
    const V ratio = hn::Mul(saved(kCell), over), dh = hn::LoadU(d, s.d_states[0] + e);
    const V d_output = hn::Mul(dh, ratio), through = hn::Mul(hn::Mul(dh, o), over);
    const V d_cell = hn::Add(hn::LoadU(d, s.d_states[1] + e), through);
    const V d_norm = hn::NegMulAdd(through, ratio, hn::LoadU(d, s.d_states[2] + e));
    // By the exponents of the two gates, whose stabiliser is the larger one.
    V d_keep = hn::Mul(forget, hn::MulAdd(d_cell, hn::LoadU(d, s.before[1] + e),
                                          hn::Mul(d_norm, hn::LoadU(d, s.before[2] + e))));
    V d_input = hn::Mul(input, hn::MulAdd(d_cell, z, d_norm));
    const V d_stable = hn::Sub(hn::Sub(hn::LoadU(d, s.d_states[3] + e), d_keep), d_input);
    const auto input_rules = hn::Lt(hn::CopySign(one, slope), hn::Zero(d));
    d_input = hn::Add(d_input, hn::IfThenElseZero(input_rules, d_stable));
    d_keep = hn::Add(d_keep, hn::IfThenZeroElse(input_rules, d_stable));
    hn::StoreU(hn::Mul(d_cell, forget), d, s.d_states[1] + e);
    hn::StoreU(hn::Mul(d_norm, forget), d, s.d_states[2] + e);
    hn::StoreU(d_keep, d, s.d_states[3] + e);
    hn::StoreU(hn::Zero(d), d, s.d_states[0] + e);
    const auto give = [&](std::int64_t gate, V value) HWY_ATTR {
      hn::StoreU(value, d, s.d_x + gate * s.gate_stride + e);
      hn::StoreU(value, d, s.d_raw + gate * s.width + e);
    };
    give(0, d_input);
    give(1, hn::Mul(d_keep, hn::Abs(slope)));
    give(2, hn::Mul(hn::Mul(d_cell, input), hn::NegMulAdd(z, z, one)));
    give(3, hn::Mul(d_output, hn::Mul(o, hn::Sub(one, o))));
  }
};

void slstm_forward(const CellForward& s) { step_forward<SlstmStep>(s); }
void slstm_backward(const CellBackward& s) { step_backward<SlstmStep>(s); }

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(slstm_forward);
HWY_EXPORT(slstm_backward);

namespace {

CellKind slstm_kind() {
  return {.gates = 4,
          .states = 4,
          .saved = kSaved,
          .saved_state = {-1, kCell, kNorm, -1},  // m is not needed again
          .forward =
              [](const CellForward& s) {
                HWY_DYNAMIC_DISPATCH(slstm_forward)
                (s);
              },
          .backward =
              [](const CellBackward& s) {
                HWY_DYNAMIC_DISPATCH(slstm_backward)
                (s);
              }};
}

}  // namespace

std::int64_t slstm_saved_size(const SlstmShape& shape) {
  return cell_saved_size(slstm_kind(), shape);
}

void slstm(const SlstmShape& shape, const float* x, const float* recurrent, const float* bias,
           const float* state, float* y, float* final_state, float* saved) {
  run_cell(slstm_kind(), shape, x, recurrent, bias, state, y, final_state, saved);
}

void slstm_backward(const SlstmShape& shape, const float* recurrent, const float* state,
                    const float* y, const float* saved, const float* dy, const float* d_final_state,
                    float* dx, float* d_recurrent, float* d_bias, float* d_state) {
  run_cell_backward(slstm_kind(), shape, recurrent, state, y, saved, dy, d_final_state, dx, nullptr,
                    d_recurrent, d_bias, d_state);
}

}  // namespace shellgame
#endif  // HWY_ONCE
