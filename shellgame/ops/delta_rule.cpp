#include "shellgame/ops/delta_rule.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <vector>

#include "shellgame/ops/delta_rule_kernel.h"
#include "shellgame/ops/engine.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

at::Tensor start_of(const at::Tensor& start, const at::Tensor& k, const at::Tensor& v) {
  if (start.defined()) return start;
  return at::zeros({k.size(0), k.size(2), k.size(3), v.size(3)}, v.options());
}

// [B, T, H, X] at token t, as a column [B, H, X, 1].
at::Tensor column(const at::Tensor& x, std::int64_t t) { return x.select(1, t).unsqueeze(-1); }

}  // namespace

Recurrence delta_rule(const DeltaInputs& inputs, const StateTap& tap) {
  if (!tap && kernels_fit({inputs.q, inputs.k, inputs.v, inputs.beta, inputs.start})) {
    return delta_rule_by_kernel(inputs);
  }
  const bool channels = inputs.key_decay.defined() || inputs.value_decay.defined();
  // LAPACK, which solves the chunks, knows no 16-bit numbers.
  const bool narrow = inputs.q.scalar_type() != at::kFloat && inputs.q.scalar_type() != at::kDouble;
  if (tap || channels || narrow || !inputs.beta.defined() || inputs.q.size(1) == 1) {
    return delta_rule_stepwise(inputs, tap);
  }
  return delta_rule_chunked(inputs);
}

Recurrence delta_rule_stepwise(const DeltaInputs& in, const StateTap& tap) {
  at::Tensor state = start_of(in.start, in.k, in.v);
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < in.q.size(1); ++t) {
    if (in.decay.defined()) {
      state = state * in.decay.select(1, t).exp().unsqueeze(-1).unsqueeze(-1);
    }
    if (in.key_decay.defined()) state = state * column(in.key_decay, t).exp();
    if (in.value_decay.defined()) {
      state = state * in.value_decay.select(1, t).exp().unsqueeze(-2);
    }
    const at::Tensor key = column(in.k, t);
    at::Tensor value = in.v.select(1, t).unsqueeze(-2);  // [B, H, 1, V]
    if (in.beta.defined()) {
      value =
          (value - (state * key).sum(-2, true)) * in.beta.select(1, t).unsqueeze(-1).unsqueeze(-1);
    }
    state = state + key * value;
    if (tap) state = tap(t, state);
    outputs.push_back((state * column(in.q, t)).sum(-2) * in.scale);
  }
  return {at::stack(outputs, 1), state};
}

Recurrence delta_rule_chunked(const DeltaInputs& in, std::int64_t chunk) {
  if (in.key_decay.defined() || in.value_decay.defined() || !in.beta.defined()) {
    wrong_use("the chunked form of the delta rule takes beta and decays of heads only");
  }
  const std::int64_t time = in.q.size(1);
  // [B, H, T, X]
  const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
  const at::Tensor q = heads_first(in.q) * in.scale, k = heads_first(in.k), v = heads_first(in.v);
  const at::Tensor beta = heads_first(in.beta).unsqueeze(-1);
  at::Tensor state = start_of(in.start, in.k, in.v);
  std::vector<at::Tensor> outputs;
  for (std::int64_t from = 0; from < time; from += chunk) {
    const std::int64_t size = std::min(chunk, time - from);
    const auto part = [&](const at::Tensor& x) { return x.narrow(2, from, size); };
    const at::Tensor qc = part(q), kc = part(k), bc = part(beta);
    const at::Tensor ones = at::ones({size, size}, q.options());
    at::Tensor within = ones;  // e^(G_i - G_j), at and below the diagonal
    at::Tensor since;          // e^(G_i), from the chunk's start
    if (in.decay.defined()) {
      const at::Tensor sums = part(heads_first(in.decay)).cumsum(-1);
      const at::Tensor gaps = sums.unsqueeze(-1) - sums.unsqueeze(-2);
      within = gaps.masked_fill(ones.triu(1).to(at::kBool), 0).exp();
      since = sums.exp().unsqueeze(-1);
    }
    const at::Tensor keys_of_keys = (at::matmul(bc * kc, kc.transpose(-1, -2)) * within).tril(-1);
    const at::Tensor system = keys_of_keys + at::eye(size, q.options());
    // What each token writes: U - W S, solved at once.
    const at::Tensor seen =
        in.decay.defined() ? at::matmul(kc * since, state) : at::matmul(kc, state);
    const at::Tensor written =
        at::linalg_solve_triangular(system, bc * (part(v) - seen), /*upper=*/false);
    const at::Tensor inner =
        at::matmul((at::matmul(qc, kc.transpose(-1, -2)) * within).tril(), written);
    outputs.push_back(inner + at::matmul(in.decay.defined() ? qc * since : qc, state));
    if (in.decay.defined()) {
      const at::Tensor last = within.narrow(-2, size - 1, 1).transpose(-1, -2);  // e^(G_C - G_j)
      state = state * since.narrow(-2, size - 1, 1) +
              at::matmul((kc * last).transpose(-1, -2), written);
    } else {
      state = state + at::matmul(kc.transpose(-1, -2), written);
    }
  }
  return {at::cat(outputs, 2).transpose(1, 2), state};
}

Recurrence low_rank_rule(const LowRankInputs& in, const StateTap& tap) {
  if (!tap && kernels_fit({in.q, in.k, in.v, in.start})) return low_rank_rule_by_kernel(in);
  at::Tensor state = start_of(in.start, in.k, in.v);
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < in.q.size(1); ++t) {
    const at::Tensor read = (state * column(in.b, t)).sum(-2, true);  // [B, H, 1, V]
    state = state * column(in.decay, t).exp() + column(in.a, t) * read +
            column(in.k, t) * in.v.select(1, t).unsqueeze(-2);
    if (tap) state = tap(t, state);
    outputs.push_back((state * column(in.q, t)).sum(-2) * in.scale);
  }
  return {at::stack(outputs, 1), state};
}

}  // namespace shellgame
