#include "shellgame/kernels/gated_cells.h"

#include "shellgame/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/gated_cells.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h
#include "shellgame/kernels/cell_lanes-inl.h"
#include "shellgame/kernels/fast_math-inl.h"

namespace shellgame {
#ifndef SHELLGAME_KERNELS_GATED_CELLS_ONCE
#define SHELLGAME_KERNELS_GATED_CELLS_ONCE
// What the backward pass needs of one cell: gates after their functions; of the LSTM the new c, of
// the GRU R_n h + b_n.
enum LstmSaved { kLstmInput, kLstmForget, kLstmValue, kLstmOutput, kLstmCell, kLstmSaved };
enum GruSaved { kGruReset, kGruUpdate, kGruFresh, kGruBack, kGruSaved };
#endif
}  // namespace shellgame

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// s (1 - s) and 1 - t^2: slopes of sigmoid and tanh from their values.
template <class D, class V>
HWY_INLINE V sigmoid_slope(D d, V s) {
  return hn::Mul(s, hn::Sub(hn::Set(d, 1.0F), s));
}
template <class D, class V>
HWY_INLINE V tanh_slope(D d, V t) {
  return hn::NegMulAdd(t, t, hn::Set(d, 1.0F));
}

struct LstmStep {
  template <class D>
  static HWY_INLINE void forward(D d, const CellForward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const auto raw = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, s.x + gate * s.gate_stride + e),
                     hn::LoadU(d, s.recurrent + gate * s.width + e));
    };
    const V input = fast::sigmoid(d, raw(0)), forget = fast::sigmoid(d, raw(1));
    const V value = fast::tanh(d, raw(2)), output = fast::sigmoid(d, raw(3));
    const V cell = hn::MulAdd(forget, hn::LoadU(d, s.states[1] + e), hn::Mul(input, value));
    hn::StoreU(hn::Mul(output, fast::tanh(d, cell)), d, s.states[0] + e);
    hn::StoreU(cell, d, s.states[1] + e);
    if (s.saved == nullptr) return;
    const V saved[kLstmSaved] = {input, forget, value, output, cell};
    for (int i = 0; i < kLstmSaved; ++i) hn::StoreU(saved[i], d, s.saved + i * s.width + e);
  }

  template <class D>
  static HWY_INLINE void backward(D d, const CellBackward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const auto saved = [&](LstmSaved which)
                           HWY_ATTR { return hn::LoadU(d, s.saved + which * s.width + e); };
    const V input = saved(kLstmInput), forget = saved(kLstmForget), value = saved(kLstmValue);
    const V output = saved(kLstmOutput), shown = fast::tanh(d, saved(kLstmCell));
    const V dh = hn::LoadU(d, s.d_states[0] + e);
    const V d_cell =
        hn::MulAdd(hn::Mul(dh, output), tanh_slope(d, shown), hn::LoadU(d, s.d_states[1] + e));
    const auto give = [&](std::int64_t gate, V gradient) HWY_ATTR {
      hn::StoreU(gradient, d, s.d_x + gate * s.gate_stride + e);
      hn::StoreU(gradient, d, s.d_raw + gate * s.width + e);
    };
    give(0, hn::Mul(hn::Mul(d_cell, value), sigmoid_slope(d, input)));
    give(1, hn::Mul(hn::Mul(d_cell, hn::LoadU(d, s.before[1] + e)), sigmoid_slope(d, forget)));
    give(2, hn::Mul(hn::Mul(d_cell, input), tanh_slope(d, value)));
    give(3, hn::Mul(hn::Mul(dh, shown), sigmoid_slope(d, output)));
    hn::StoreU(hn::Zero(d), d, s.d_states[0] + e);
    hn::StoreU(hn::Mul(d_cell, forget), d, s.d_states[1] + e);
  }
};

struct GruStep {
  template <class D>
  static HWY_INLINE void forward(D d, const CellForward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const auto in = [&](std::int64_t gate)
                        HWY_ATTR { return hn::LoadU(d, s.x + gate * s.gate_stride + e); };
    const auto back = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, s.recurrent + gate * s.width + e),
                     hn::LoadU(d, s.bias + gate * s.gate_stride + e));
    };
    const V reset = fast::sigmoid(d, hn::Add(in(0), back(0)));
    const V update = fast::sigmoid(d, hn::Add(in(1), back(1))), kept = back(2);
    const V fresh = fast::tanh(d, hn::MulAdd(reset, kept, in(2)));
    const V hidden = hn::LoadU(d, s.states[0] + e);
    hn::StoreU(hn::MulAdd(update, hn::Sub(hidden, fresh), fresh), d, s.states[0] + e);
    if (s.saved == nullptr) return;
    const V saved[kGruSaved] = {reset, update, fresh, kept};
    for (int i = 0; i < kGruSaved; ++i) hn::StoreU(saved[i], d, s.saved + i * s.width + e);
  }

  template <class D>
  static HWY_INLINE void backward(D d, const CellBackward& s, std::int64_t e) {
    using V = hn::Vec<D>;
    const auto saved = [&](GruSaved which)
                           HWY_ATTR { return hn::LoadU(d, s.saved + which * s.width + e); };
    const V reset = saved(kGruReset), update = saved(kGruUpdate), fresh = saved(kGruFresh);
    const V dh = hn::LoadU(d, s.d_states[0] + e);
    const V d_fresh = hn::Mul(hn::NegMulAdd(dh, update, dh), tanh_slope(d, fresh));
    const auto give = [&](std::int64_t gate, V in, V back) HWY_ATTR {
      hn::StoreU(in, d, s.d_x + gate * s.gate_stride + e);
      hn::StoreU(back, d, s.d_back + gate * s.gate_stride + e);
      hn::StoreU(back, d, s.d_raw + gate * s.width + e);
    };
    const V d_reset = hn::Mul(hn::Mul(d_fresh, saved(kGruBack)), sigmoid_slope(d, reset));
    const V d_update = hn::Mul(hn::Mul(dh, hn::Sub(hn::LoadU(d, s.before[0] + e), fresh)),
                               sigmoid_slope(d, update));
    give(0, d_reset, d_reset);
    give(1, d_update, d_update);
    give(2, d_fresh, hn::Mul(d_fresh, reset));
    hn::StoreU(hn::Mul(dh, update), d, s.d_states[0] + e);
  }
};

// What it needs later is the new h.
struct TanhStep {
  template <class D>
  static HWY_INLINE void forward(D d, const CellForward& s, std::int64_t e) {
    const auto hidden =
        fast::tanh(d, hn::Add(hn::LoadU(d, s.x + e), hn::LoadU(d, s.recurrent + e)));
    hn::StoreU(hidden, d, s.states[0] + e);
    if (s.saved != nullptr) hn::StoreU(hidden, d, s.saved + e);
  }

  template <class D>
  static HWY_INLINE void backward(D d, const CellBackward& s, std::int64_t e) {
    const auto gradient =
        hn::Mul(hn::LoadU(d, s.d_states[0] + e), tanh_slope(d, hn::LoadU(d, s.saved + e)));
    hn::StoreU(gradient, d, s.d_x + e);
    hn::StoreU(gradient, d, s.d_raw + e);
    hn::StoreU(hn::Zero(d), d, s.d_states[0] + e);
  }
};

void lstm_step(const CellForward& s) { step_forward<LstmStep>(s); }
void lstm_step_backward(const CellBackward& s) { step_backward<LstmStep>(s); }
void gru_step(const CellForward& s) { step_forward<GruStep>(s); }
void gru_step_backward(const CellBackward& s) { step_backward<GruStep>(s); }
void tanh_step(const CellForward& s) { step_forward<TanhStep>(s); }
void tanh_step_backward(const CellBackward& s) { step_backward<TanhStep>(s); }

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(lstm_step);
HWY_EXPORT(lstm_step_backward);
HWY_EXPORT(gru_step);
HWY_EXPORT(gru_step_backward);
HWY_EXPORT(tanh_step);
HWY_EXPORT(tanh_step_backward);

namespace {

CellKind lstm_kind() {
  return {.gates = 4,
          .states = 2,
          .saved = kLstmSaved,
          .saved_state = {-1, kLstmCell, -1, -1},
          .forward =
              [](const CellForward& s) {
                HWY_DYNAMIC_DISPATCH(lstm_step)
                (s);
              },
          .backward =
              [](const CellBackward& s) {
                HWY_DYNAMIC_DISPATCH(lstm_step_backward)
                (s);
              }};
}

CellKind gru_kind() {
  return {.gates = 3,
          .states = 1,
          .saved = kGruSaved,
          .saved_state = {-1, -1, -1, -1},
          .forward =
              [](const CellForward& s) {
                HWY_DYNAMIC_DISPATCH(gru_step)
                (s);
              },
          .backward =
              [](const CellBackward& s) {
                HWY_DYNAMIC_DISPATCH(gru_step_backward)
                (s);
              }};
}

CellKind tanh_kind() {
  return {.gates = 1,
          .states = 1,
          .saved = 1,
          .saved_state = {-1, -1, -1, -1},
          .forward =
              [](const CellForward& s) {
                HWY_DYNAMIC_DISPATCH(tanh_step)
                (s);
              },
          .backward =
              [](const CellBackward& s) {
                HWY_DYNAMIC_DISPATCH(tanh_step_backward)
                (s);
              }};
}

}  // namespace

std::int64_t lstm_saved_size(const CellShape& shape) { return cell_saved_size(lstm_kind(), shape); }

void lstm(const CellShape& shape, const float* x, const float* recurrent, const float* state,
          float* y, float* final_state, float* saved) {
  run_cell(lstm_kind(), shape, x, recurrent, nullptr, state, y, final_state, saved);
}

void lstm_backward(const CellShape& shape, const float* recurrent, const float* state,
                   const float* y, const float* saved, const float* dy, const float* d_final_state,
                   float* dx, float* d_recurrent, float* d_state) {
  run_cell_backward(lstm_kind(), shape, recurrent, state, y, saved, dy, d_final_state, dx, nullptr,
                    d_recurrent, nullptr, d_state);
}

std::int64_t gru_saved_size(const CellShape& shape) { return cell_saved_size(gru_kind(), shape); }

void gru(const CellShape& shape, const float* x, const float* recurrent, const float* bias,
         const float* state, float* y, float* final_state, float* saved) {
  run_cell(gru_kind(), shape, x, recurrent, bias, state, y, final_state, saved);
}

void gru_backward(const CellShape& shape, const float* recurrent, const float* state,
                  const float* y, const float* saved, const float* dy, const float* d_final_state,
                  float* dx, float* d_recurrent, float* d_bias, float* d_state) {
  const std::int64_t token =
      shape.x_stride > 0 ? shape.x_stride : 3 * shape.heads * shape.head_width;
  Scratch d_back(shape.batch * shape.time * token);
  run_cell_backward(gru_kind(), shape, recurrent, state, y, saved, dy, d_final_state, dx,
                    d_back.data(), d_recurrent, d_bias, d_state);
}

std::int64_t tanh_rnn_saved_size(const CellShape& shape) {
  return cell_saved_size(tanh_kind(), shape);
}

void tanh_rnn(const CellShape& shape, const float* x, const float* recurrent, const float* state,
              float* y, float* final_state, float* saved) {
  run_cell(tanh_kind(), shape, x, recurrent, nullptr, state, y, final_state, saved);
}

void tanh_rnn_backward(const CellShape& shape, const float* recurrent, const float* state,
                       const float* y, const float* saved, const float* dy,
                       const float* d_final_state, float* dx, float* d_recurrent, float* d_state) {
  run_cell_backward(tanh_kind(), shape, recurrent, state, y, saved, dy, d_final_state, dx, nullptr,
                    d_recurrent, nullptr, d_state);
}

}  // namespace shellgame
#endif  // HWY_ONCE
