// Causal softmax attention. Per batch and head, query t stands at place p = S - T + t and sees the
// keys j <= p (with a window only j > p - window):
//   o_t = sum_j w_tj v_j,  w_tj = e^{scale q_t . k_j} / sum over the keys that it sees.
// Blocks of queries by blocks of keys: no T x S scores are ever stored, and backward makes the
// weights again. The meaning is in attention_reference.h.
#pragma once

#include <algorithm>
#include <cstddef>

#include "shellgame/kernels/row_view.h"

namespace shellgame {

struct AttentionSizes {
  std::size_t B = 0, T = 0, S = 0;  // queries T, keys S >= T
  std::size_t H = 0, G = 0;         // heads, groups of keys; G divides H
  std::size_t K = 0, V = 0;
  std::size_t window = 0;  // 0: no limit

  std::size_t past() const { return S - T; }
  // The keys [first_key, last_key] that query t sees.
  std::size_t last_key(std::size_t t) const { return past() + t; }
  std::size_t first_key(std::size_t t) const {
    return window == 0 || last_key(t) < window ? 0 : last_key(t) + 1 - window;
  }
  // Multiplications of a forward pass, about; a backward pass has two and a half times as many.
  double work() const {
    const double seen = static_cast<double>(past()) + static_cast<double>(T) / 2;
    const double keys = window == 0 ? seen : std::min(seen, static_cast<double>(window));
    return static_cast<double>(B * T * H * (K + V)) * keys;
  }
};

template <class Real>
struct AttentionInput {
  RowView<const Real> q;  // [B,T,H,K]
  RowView<const Real> k;  // [B,S,G,K]; head h sees group h / (H / G)
  RowView<const Real> v;  // [B,S,G,V]
  Real scale = 1;
};

// Gradients of the loss: that of o comes in, those of the inputs are written (not added to).
template <class Real>
struct AttentionGradients {
  RowView<const Real> d_o;  // [B,T,H,V]
  RowView<Real> dq, dk, dv;
};

// What forward leaves for backward, [B,H,T,2]: of each row of scores the greatest one and 1 / the
// sum of e^{score - greatest}. Their logarithmic sum in one number would lose what large scores
// have behind the point.
inline std::size_t attention_saved_size(const AttentionSizes& sizes) {
  return 2 * sizes.B * sizes.H * sizes.T;
}

// o [B,T,H,V]; `saved` may be null if no backward follows. Both run on all threads, and give the
// same bits for any number of them. They throw UsageError if sizes do not fit together.
void attention_forward(const AttentionSizes& sizes, const AttentionInput<float>& input,
                       const RowView<float>& o, float* saved);
void attention_backward(const AttentionSizes& sizes, const AttentionInput<float>& input,
                        const RowView<const float>& o, const float* saved,
                        const AttentionGradients<float>& gradients);

}  // namespace shellgame
