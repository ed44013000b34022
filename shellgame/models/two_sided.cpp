// The two-sided recurrence of the paper's marginal section: H <- A_l H A_r + B with A_l = P D_l,
// A_r = D_r; rows are positions, columns elements. D_l, D_r are diagonal gates in (0, 1).
// mixture "householder": P = I - beta k k^T and B = beta k v^T (with k = (e_i - e_j)/sqrt 2 and
// beta = 2p it swaps i and j with probability p; with k = e_i and beta = 1 it writes row i).
// mixture "swaps" or "all": P = sum_j c_j P_j over permutations of the rows, B = b u v^T.
#include <ATen/Functions.h>

#include <algorithm>
#include <numeric>

#include "shellgame/models/delta_parts.h"
#include "shellgame/models/mixers.h"
#include "shellgame/ops/activation.h"
#include "shellgame/ops/norm.h"

namespace shellgame {
namespace {

constexpr std::int64_t kMostRowsOfAll = 6;  // 720 permutations
constexpr double kOpenGate = 4;             // sigmoid(4) = 0.98

// Permutations of n rows as matrices [M, n, n], the identity first.
at::Tensor permutation_matrices(const std::string& kind, std::int64_t n) {
  std::vector<std::vector<std::int64_t>> orders;
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (kind == "all") {
    do orders.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
  } else {
    orders.push_back(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        orders.push_back(order);
        std::swap(orders.back()[i], orders.back()[j]);
      }
    }
  }
  at::Tensor all = at::zeros({static_cast<std::int64_t>(orders.size()), n, n});
  for (std::size_t m = 0; m < orders.size(); ++m) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      all[static_cast<std::int64_t>(m)][static_cast<std::int64_t>(i)][orders[m][i]] = 1;
    }
  }
  return all;
}

class TwoSided : public Mixer {
 public:
  TwoSided(const Options& options, const MixerPlace& place, const Weights& weights)
      : heads_(options.size("num_heads")),
        rows_(options.size("head_dim")),
        columns_(options.size_or("value_dim", rows_)),
        mixture_(options.word("mixture", {"householder", "swaps", "all"})),
        key_norm_(options.word("qk_norm", {"l2", "none"})),
        key_activation_(options.word("qk_activation", {"identity", "silu", "relu", "elu"})),
        value_activation_(options.word("v_activation", {"identity", "silu"})),
        normed_output_(options.flag("use_output_norm")),
        eps_(place.norm_eps) {
    if (mixture_ == "all" && rows_ > kMostRowsOfAll) {
      options.refuse(fmt::format("with 'mixture' all, head_dim must be at most {}, not {}",
                                 kMostRowsOfAll, rows_));
    }
    const std::int64_t keys = heads_ * rows_, values = heads_ * columns_;
    q_ = weights.linear("q_proj", keys, place.width);
    k_ = weights.linear("k_proj", keys, place.width);
    v_ = weights.linear("v_proj", values, place.width);
    b_ = weights.linear("b_proj", heads_, place.width);
    left_ = weights.linear("l_proj", keys, place.width);
    right_ = weights.linear("r_proj", values, place.width);
    left_bias_ = weights.constant("l_proj.bias", {keys}, kOpenGate);
    right_bias_ = weights.constant("r_proj.bias", {values}, kOpenGate);
    if (mixture_ != "householder") {
      permutations_ = permutation_matrices(mixture_, rows_);
      c_ = weights.linear("c_proj", heads_ * permutations_.size(0), place.width);
    }
    if (options.flag("use_short_conv")) {
      const std::int64_t width = options.size("conv_size");
      q_conv_ = weights.convolution("q_conv1d", keys, width);
      k_conv_ = weights.convolution("k_conv1d", keys, width);
      v_conv_ = weights.convolution("v_conv1d", values, width);
    }
    if (normed_output_) o_norm_ = weights.constant("o_norm.weight", {columns_}, 1);
    o_ = weights.linear("o_proj", place.width, values);
  }

  at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const override {
    std::vector<at::Tensor> weights = {q_, k_, v_, b_, left_, right_};
    if (c_.defined()) weights.push_back(c_);
    const std::vector<at::Tensor> parts = stream.project(weights);
    const auto prepared = [&](const at::Tensor& x, const at::Tensor& conv,
                              const std::string& name) {
      const at::Tensor y = split_heads(convolved(x, conv, key_activation_, name, state), heads_);
      return key_norm_ == "l2" ? l2_norm(y) : y;
    };
    const at::Tensor q = pass.tap("q", prepared(parts[0], q_conv_, "conv_q"));
    const at::Tensor k = pass.tap("k", prepared(parts[1], k_conv_, "conv_k"));
    const at::Tensor v = pass.tap(
        "v", split_heads(convolved(parts[2], v_conv_, value_activation_, "conv_v", state), heads_));
    const double range = mixture_ == "householder" ? 2 : 1;
    const at::Tensor beta = pass.tap("beta", parts[3].sigmoid() * range);
    const at::Tensor left =
        pass.tap("left", split_heads(at::log_sigmoid(parts[4] + left_bias_), heads_));
    const at::Tensor right =
        pass.tap("right", split_heads(at::log_sigmoid(parts[5] + right_bias_), heads_));
    const at::Tensor start = remembered(state, "recurrent");
    Recurrence run;
    if (mixture_ == "householder") {
      const DeltaInputs inputs{.q = q,
                               .k = k,
                               .v = v,
                               .beta = beta,
                               .decay = {},
                               .key_decay = left,
                               .value_decay = right,
                               .start = start,
                               .scale = 1};
      run = delta_rule(inputs, state_tap(pass));
    } else {
      const at::Tensor coefficients =
          pass.tap("mixture", split_heads(parts[6], heads_).softmax(-1));
      run = mixed(q, k, v, beta, left, right, coefficients, start, state_tap(pass));
    }
    if (state != nullptr) (*state)["recurrent"] = run.state;
    at::Tensor o = pass.tap("output", run.output);
    if (normed_output_) o = rms_norm(o, o_norm_, eps_);
    return stream.add_projected(o.flatten(2), o_);
  }

  MixerDeclaration declaration() const override {
    // Mixtures of permutations have a beta that only writes.
    return {.heads = heads_,
            .remembers = delta_memory(heads_, heads_, q_conv_.defined()),
            .delta_steps = mixture_ == "householder",
            .decay_tap = "left"};
  }

 private:
  // Token by token, with a whole matrix on the left.
  Recurrence mixed(const at::Tensor& q, const at::Tensor& u, const at::Tensor& v,
                   const at::Tensor& b, const at::Tensor& left, const at::Tensor& right,
                   const at::Tensor& coefficients, const at::Tensor& start,
                   const StateTap& tap) const {
    const std::int64_t batch = q.size(0), time = q.size(1);
    at::Tensor h =
        start.defined() ? start : at::zeros({batch, heads_, rows_, columns_}, q.options());
    const at::Tensor table = permutations_.to(q.options()).flatten(1);  // [M, n * n]
    const at::Tensor p =
        at::matmul(coefficients, table).unflatten(-1, {rows_, rows_});  // [B, T, H, n, n]
    const at::Tensor a = p * left.exp().unsqueeze(-2);
    const at::Tensor keep = right.exp().unsqueeze(-2);
    const at::Tensor write = (u * b.unsqueeze(-1)).unsqueeze(-1) * v.unsqueeze(-2);
    std::vector<at::Tensor> outputs;
    for (std::int64_t t = 0; t < time; ++t) {
      h = at::matmul(a.select(1, t), h) * keep.select(1, t) + write.select(1, t);
      if (tap) h = tap(t, h);
      outputs.push_back((h * q.select(1, t).unsqueeze(-1)).sum(-2));
    }
    return {at::stack(outputs, 1), h};
  }

  std::int64_t heads_, rows_, columns_;
  std::string mixture_, key_norm_, key_activation_, value_activation_;
  bool normed_output_;
  double eps_;
  at::Tensor q_, k_, v_, b_, c_, left_, right_, left_bias_, right_bias_, q_conv_, k_conv_, v_conv_,
      o_norm_, o_, permutations_;
};

}  // namespace

MixerEntry two_sided_mixer() {
  return {.name = "two_sided",
          .defaults = {{"num_heads", 4},
                       {"head_dim", 16},
                       {"value_dim", nullptr},
                       {"mixture", "householder"},
                       {"qk_norm", "l2"},
                       {"qk_activation", "identity"},
                       {"v_activation", "identity"},
                       {"use_short_conv", true},
                       {"conv_size", 4},
                       {"use_output_norm", true}},
          .taps = {"q", "k", "v", "beta", "left", "right", "state", "output"},
          .make = make_mixer<TwoSided>};
}

}  // namespace shellgame
