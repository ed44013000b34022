// Linear recurrences on a matrix state S [K, V] for each head: the delta rule with its decays, the
// diagonal-plus-low-rank rule of RWKV-7, and plain decayed sums (Mamba2).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace shellgame {

struct Recurrence {
  at::Tensor output;  // [B, T, H, V]
  at::Tensor state;   // [B, H, K, V], after the last token
};

// Called after each token with (t, S [B, H, K, V]); what it returns goes on.
using StateTap = std::function<at::Tensor(std::int64_t, const at::Tensor&)>;

struct DeltaInputs {
  at::Tensor q, k;         // [B, T, H, K], normed by the caller
  at::Tensor v;            // [B, T, H, V]
  at::Tensor beta;         // [B, T, H]; undefined: no delta term, S += k v^T
  at::Tensor decay;        // log, [B, T, H], or undefined
  at::Tensor key_decay;    // log, [B, T, H, K], or undefined
  at::Tensor value_decay;  // log, [B, T, H, V], or undefined
  at::Tensor start;        // [B, H, K, V], or undefined: zeros
  double scale = 1;
};

// S <- Diag(e^(decay + key_decay)) S Diag(e^value_decay); S <- S + beta k (v - S^T k)^T;
// o = scale S^T q. With `tap` it goes token by token in Torch operations.
Recurrence delta_rule(const DeltaInputs& inputs, const StateTap& tap = {});
// The same in Torch operations: token by token, and (without decays of channels) by chunks.
Recurrence delta_rule_stepwise(const DeltaInputs& inputs, const StateTap& tap = {});
Recurrence delta_rule_chunked(const DeltaInputs& inputs, std::int64_t chunk = 64);

struct LowRankInputs {
  at::Tensor q, decay, k, a, b;  // [B, T, H, K]; decay is a logarithm
  at::Tensor v;                  // [B, T, H, V]
  at::Tensor start;
  double scale = 1;
};

// S <- Diag(e^decay) S + a (b^T S) + k v^T (S before the decay on the right); o = scale S^T q.
Recurrence low_rank_rule(const LowRankInputs& inputs, const StateTap& tap = {});

}  // namespace shellgame
