// A plain forward pass of the exact models, token by token, written from the formulas of
// docs/exact-models.md and sharing no code with the models: DeltaNet and the two-sided mixer,
// sparse matrices (most weights are zero), in float or double, or in float with every result
// rounded to 16 bits (the state stays in float, as in the usual kernels, unless it is rounded too).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shellgame/models/exact.h"
#include "shellgame/tensors/dtype.h"

namespace shellgame {

enum class Rounding { kNone, kBf16, kF16 };

template <class Real>
class ExactRun {
 public:
  using Vector = std::vector<Real>;

  struct Layer {
    Vector beta;                 // by head
    std::vector<Vector> keys;    // normed, by head
    std::vector<Vector> states;  // [rows, columns] by head
  };

  explicit ExactRun(const ExactModel& model, Rounding rounding = Rounding::kNone,
                    Rounding state_rounding = Rounding::kNone)
      : rounding_(rounding),
        state_rounding_(state_rounding),
        eps_(static_cast<Real>(model.config.at("norm_eps").get<double>())) {
    for (const ExactTensor& tensor : model.tensors) {
      Sparse& sparse = tensors_[tensor.name];
      const auto columns = static_cast<std::size_t>(tensor.shape.back());
      sparse.resize(tensor.values.size() / columns);
      for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        // As a file of floats holds it.
        const Real value = round(static_cast<Real>(static_cast<float>(tensor.values[i])));
        if (value != 0) sparse[i / columns].emplace_back(static_cast<int>(i % columns), value);
      }
    }
    width_ = model.config.at("hidden_size").get<std::size_t>();
    const auto layers = model.config.at("num_hidden_layers").get<std::size_t>();
    for (std::size_t l = 0; l < layers; ++l) {
      const auto& config =
          model.config.contains("layers") ? model.config.at("layers").at(l) : model.config;
      Part part;
      part.name = fmt::format("model.layers.{}.", l);
      part.heads = config.at("num_heads").get<std::size_t>();
      part.two_sided = tensors_.contains(part.name + "attn.l_proj.weight");
      part.silu = config.at("qk_activation") == "silu";
      part.rows = at(part, "attn.q_proj.weight").size() / part.heads;
      part.columns = at(part, "attn.v_proj.weight").size() / part.heads;
      part.seen.states.assign(part.heads, Vector(part.rows * part.columns));
      parts_.push_back(std::move(part));
    }
  }

  // The logits of what follows the token.
  Vector step(std::uint32_t id) {
    Vector x(width_);
    for (const auto& [column, value] : tensors_.at("model.embeddings.weight")[id])
      x[static_cast<std::size_t>(column)] = value;
    for (Part& part : parts_) {
      add(x, mix(part, normed(x)));
      const Vector h = normed(x);
      Vector gate = times(at(part, "mlp.gate_proj.weight"), h);
      const Vector up = times(at(part, "mlp.up_proj.weight"), h);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = round(silu(gate[i]) * up[i]);
      add(x, times(at(part, "mlp.down_proj.weight"), gate));
    }
    return times(tensors_.at("lm_head.weight"), normed(x));
  }

  const Layer& layer(std::size_t l) const { return parts_[l].seen; }

 private:
  using Sparse = std::vector<std::vector<std::pair<int, Real>>>;  // by row: column, value
  struct Part {
    std::string name;
    std::size_t heads = 1, rows = 0, columns = 0;
    bool two_sided = false, silu = false;
    std::map<std::string_view, std::vector<Vector>>
        past;  // inputs of the convolutions, the newest last
    Layer seen;
    mutable std::map<const char*, const Sparse*> known;
  };

  Real round(Real x) const { return rounded(x, rounding_); }
  static Real rounded(Real x, Rounding rounding) {
    if (rounding == Rounding::kNone) return x;
    const auto f = static_cast<float>(x);
    return static_cast<Real>(rounding == Rounding::kBf16 ? float_from_bf16(bf16_from_float(f))
                                                         : float_from_f16(f16_from_float(f)));
  }
  static Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
  static Real silu(Real x) { return x * sigmoid(x); }

  // Names are literals, so their places can be remembered.
  const Sparse& at(const Part& part, const char* name) const {
    const Sparse*& known = part.known[name];
    if (known == nullptr) known = &tensors_.at(part.name + name);
    return *known;
  }
  Vector times(const Sparse& matrix, const Vector& x) const {
    Vector y(matrix.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (const auto& [column, value] : matrix[i])
        y[i] += value * x[static_cast<std::size_t>(column)];
      y[i] = round(y[i]);
    }
    return y;
  }
  void add(Vector& x, const Vector& y) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = round(x[i] + y[i]);
  }
  // All norms of exact models have weight 1.
  Vector normed(const Vector& x) const { return normed(x, 0, x.size()); }
  Vector normed(const Vector& x, std::size_t begin, std::size_t count) const {
    Real squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += x[begin + i] * x[begin + i];
    const Real scale = 1 / std::sqrt(squares / static_cast<Real>(count) + eps_);
    Vector y(count);
    for (std::size_t i = 0; i < count; ++i) y[i] = round(x[begin + i] * scale);
    return y;
  }
  Vector unit(const Vector& x, std::size_t begin, std::size_t count) const {
    Real squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += x[begin + i] * x[begin + i];
    const Real scale = 1 / std::sqrt(squares + static_cast<Real>(1e-6));
    Vector y(count);
    for (std::size_t i = 0; i < count; ++i) y[i] = round(x[begin + i] * scale);
    return y;
  }

  Vector convolved(Part& part, const char* projection, const char* convolution, const Vector& h,
                   bool activate) {
    std::vector<Vector>& past = part.past[projection];
    past.push_back(times(at(part, projection), h));
    if (past.size() > 4) past.erase(past.begin());
    const Sparse& taps = at(part, convolution);  // a row a channel
    Vector y(taps.size());
    for (std::size_t c = 0; c < y.size(); ++c) {
      for (const auto& [tap, weight] : taps[c]) {
        const int back = 3 - tap;
        if (back < static_cast<int>(past.size()))
          y[c] += weight * past[past.size() - 1 - static_cast<std::size_t>(back)][c];
      }
      y[c] = round(activate ? silu(y[c]) : y[c]);
    }
    return y;
  }

  Vector mix(Part& part, const Vector& h) {
    const Vector q = convolved(part, "attn.q_proj.weight", "attn.q_conv1d.weight", h, part.silu);
    const Vector k = convolved(part, "attn.k_proj.weight", "attn.k_conv1d.weight", h, part.silu);
    const Vector v =
        convolved(part, "attn.v_proj.weight", "attn.v_conv1d.weight", h, !part.two_sided);
    part.seen.beta = times(at(part, "attn.b_proj.weight"), h);
    part.seen.keys.clear();
    Vector output;
    for (std::size_t head = 0; head < part.heads; ++head) {
      Real& beta = part.seen.beta[head];
      beta = round(2 * round(sigmoid(beta)));
      part.seen.keys.push_back(unit(k, head * part.rows, part.rows));
      Vector& state = part.seen.states[head];
      if (part.two_sided) decay(part, h, state);
      const Vector& key = part.seen.keys.back();
      Vector error(part.columns);
      for (std::size_t j = 0; j < part.columns; ++j) error[j] = v[head * part.columns + j];
      for (std::size_t i = 0; i < part.rows; ++i)
        for (std::size_t j = 0; j < part.columns; ++j)
          error[j] -= state[i * part.columns + j] * key[i];
      for (std::size_t i = 0; i < part.rows; ++i)
        for (std::size_t j = 0; j < part.columns; ++j)
          state[i * part.columns + j] =
              rounded(state[i * part.columns + j] + key[i] * (beta * error[j]), state_rounding_);
      const Vector query = unit(q, head * part.rows, part.rows);
      const Real scale = part.two_sided ? 1 : 1 / std::sqrt(static_cast<Real>(part.rows));
      Vector o(part.columns);
      for (std::size_t i = 0; i < part.rows; ++i)
        for (std::size_t j = 0; j < part.columns; ++j)
          o[j] += scale * query[i] * state[i * part.columns + j];
      if (!part.two_sided) o = normed(o);
      output.insert(output.end(), o.begin(), o.end());
    }
    return times(at(part, "attn.o_proj.weight"), output);
  }

  // Left and right gates; one head.
  void decay(const Part& part, const Vector& h, Vector& state) const {
    const auto gates = [&](const char* weight, const char* bias) {
      Vector gate = times(at(part, weight), h);
      for (const auto& [i, value] : at(part, bias)[0]) gate[static_cast<std::size_t>(i)] += value;
      for (Real& x : gate) x = sigmoid(x);
      return gate;
    };
    const Vector left = gates("attn.l_proj.weight", "attn.l_proj.bias");
    const Vector right = gates("attn.r_proj.weight", "attn.r_proj.bias");
    for (std::size_t i = 0; i < part.rows; ++i)
      for (std::size_t j = 0; j < part.columns; ++j)
        state[i * part.columns + j] *= left[i] * right[j];
  }

  Rounding rounding_, state_rounding_;
  Real eps_;
  std::size_t width_ = 0;
  std::map<std::string, Sparse> tensors_;
  std::vector<Part> parts_;
};

}  // namespace shellgame
