#include "shellgame/kernels/cell_runner.h"

#include <algorithm>
#include <vector>

#include "shellgame/kernels/gemm_tiles.h"
#include "shellgame/kernels/scratch.h"
#include "shellgame/kernels/share_work.h"

namespace shellgame {
namespace {

// Sequences that one thread takes through time together, for one head: a product of several rows
// costs little more than that of one.
constexpr std::int64_t kGroup = 12;

struct Sizes {
  Sizes(const CellKind& kind, const CellShape& s)
      : e(s.head_width),
        all(s.heads * s.head_width),
        gates(kind.gates),
        token(s.x_stride > 0 ? s.x_stride : gates * all),
        groups((s.batch + kGroup - 1) / kGroup),
        items(static_cast<std::size_t>(s.heads * groups)),
        work(static_cast<double>(gates * s.batch * s.time * all * e)) {}
  std::int64_t e, all;  // of a head, of all heads
  std::int64_t gates;
  std::int64_t token;  // between tokens of x
  std::int64_t groups;
  std::size_t items;  // heads of groups, which are independent
  double work;        // multiplications
};

std::vector<PackedMatrix> pack_heads(const Sizes& z, std::int64_t heads, const float* recurrent,
                                     bool back) {
  std::vector<PackedMatrix> packed;
  for (std::int64_t h = 0; h < heads; ++h) {
    const Weight weight = {recurrent + h * z.gates * z.e * z.e, z.gates * z.e};
    packed.push_back(back ? PackedMatrix::plain({&weight, 1}, z.e)
                          : PackedMatrix::transposed({&weight, 1}, z.e));
  }
  return packed;
}

// The states (or their gradients) of one head of a group of sequences, side by side.
class GroupStates {
 public:
  GroupStates(const CellKind& kind, const CellShape& shape, const Sizes& z, std::size_t item)
      : head(static_cast<std::int64_t>(item) / z.groups),
        first(static_cast<std::int64_t>(item) % z.groups * kGroup),
        count(std::min(kGroup, shape.batch - first)),
        states_(kind.states),
        shape_(shape),
        values_(states_ * count * shape.head_width) {}

  float* part(std::int64_t which, std::int64_t b) {
    return values_.data() + (which * count + b) * shape_.head_width;
  }
  // Of the same in [S, B, H, E].
  std::int64_t place(std::int64_t which, std::int64_t b) const {
    return ((which * shape_.batch + first + b) * shape_.heads + head) * shape_.head_width;
  }
  void load(const float* from) {
    for (std::int64_t which = 0; which < states_; ++which) {
      for (std::int64_t b = 0; b < count; ++b) {
        if (from == nullptr) {
          std::fill_n(part(which, b), shape_.head_width, 0.0F);
        } else {
          std::copy_n(from + place(which, b), shape_.head_width, part(which, b));
        }
      }
    }
  }
  void store(float* to) {
    if (to == nullptr) return;
    for (std::int64_t which = 0; which < states_; ++which) {
      for (std::int64_t b = 0; b < count; ++b)
        std::copy_n(part(which, b), shape_.head_width, to + place(which, b));
    }
  }

  const std::int64_t head, first, count;

 private:
  std::int64_t states_;
  const CellShape& shape_;
  Scratch values_;
};

// d_recurrent of one gate of one head, [E, E]: sum over tokens of d_raw (x) the hidden state
// before; and d_bias.
void weight_gradients(const CellShape& shape, const Sizes& z, std::int64_t head, std::int64_t gate,
                      const float* state, const float* y, const float* d_raw, float* d_recurrent,
                      float* d_bias) {
  constexpr std::int64_t kRows = 96;
  const std::int64_t column = (gate * shape.heads + head) * z.e;
  const bool weights = d_recurrent != nullptr;
  const Rows g = {weights ? d_recurrent + (head * z.gates + gate) * z.e * z.e : nullptr, z.e};
  float* const bias = d_bias == nullptr ? nullptr : d_bias + column;
  for (std::int64_t i = 0; weights && i < z.e; ++i) std::fill(g.row(i), g.row(i) + z.e, 0.0F);
  if (bias != nullptr) std::fill(bias, bias + z.e, 0.0F);
  Scratch panels(panels_of(z.e) * kPanel * kRows);
  const auto add = [&](std::int64_t rows, ConstRows left, ConstRows before) {
    pack_panels(rows, z.e, before, nullptr, panels.data(), rows);
    gemm_tn_tile({rows, z.e, z.e, left, panels.data(), rows, g, true});
  };
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const ConstRows d = {d_raw + b * shape.time * z.token + column, z.token};
    const ConstRows hidden = {y + b * shape.time * z.all + head * z.e, z.all};
    if (weights && state != nullptr && shape.time > 0)
      add(1, d, {state + (b * shape.heads + head) * z.e, z.all});
    for (std::int64_t t = 1; weights && t < shape.time; t += kRows)
      add(std::min(kRows, shape.time - t), d.from(t), hidden.from(t - 1));
    for (std::int64_t t = 0; bias != nullptr && t < shape.time; ++t) {
      for (std::int64_t i = 0; i < z.e; ++i) bias[i] += d.row(t)[i];
    }
  }
}

}  // namespace

std::int64_t cell_saved_size(const CellKind& kind, const CellShape& shape) {
  return shape.batch * shape.time * shape.heads * kind.saved * shape.head_width;
}

void run_cell(const CellKind& kind, const CellShape& shape, const float* x, const float* recurrent,
              const float* bias, const float* state, float* y, float* final_state, float* saved) {
  const Sizes z(kind, shape);
  const std::vector<PackedMatrix> packed = pack_heads(z, shape.heads, recurrent, false);
  share_work(z.items, z.work, [&](std::size_t item) {
    GroupStates now(kind, shape, z, item);
    const std::int64_t h = now.head;
    Scratch raw(now.count * z.gates * z.e);
    now.load(state);
    for (std::int64_t t = 0; t < shape.time; ++t) {
      gemm_tile(tile_product(now.count, {now.part(0, 0), z.e}, packed[static_cast<std::size_t>(h)],
                             {raw.data(), z.gates * z.e}));
      for (std::int64_t b = 0; b < now.count; ++b) {
        const std::int64_t token = (now.first + b) * shape.time + t;
        CellForward s{};
        s.width = z.e;
        s.gate_stride = z.all;
        s.x = x + token * z.token + h * z.e;
        s.bias = bias == nullptr ? nullptr : bias + h * z.e;
        s.recurrent = raw.data() + b * z.gates * z.e;
        for (int which = 0; which < kind.states; ++which) s.states[which] = now.part(which, b);
        if (saved != nullptr) s.saved = saved + (token * shape.heads + h) * kind.saved * z.e;
        kind.forward(s);
        std::copy_n(now.part(0, b), z.e, y + token * z.all + h * z.e);
      }
    }
    now.store(final_state);
  });
}

void run_cell_backward(const CellKind& kind, const CellShape& shape, const float* recurrent,
                       const float* state, const float* y, const float* saved, const float* dy,
                       const float* d_final_state, float* dx, float* d_back, float* d_recurrent,
                       float* d_bias, float* d_state) {
  const Sizes z(kind, shape);
  const std::vector<PackedMatrix> packed = pack_heads(z, shape.heads, recurrent, true);
  const std::vector<float> zeros(static_cast<std::size_t>(z.e));
  share_work(z.items, z.work, [&](std::size_t item) {
    GroupStates now(kind, shape, z, item);
    const std::int64_t h = now.head;
    Scratch raw(now.count * z.gates * z.e);
    now.load(d_final_state);
    for (std::int64_t t = shape.time - 1; t >= 0; --t) {
      for (std::int64_t b = 0; b < now.count; ++b) {
        const std::int64_t token = (now.first + b) * shape.time + t;
        const float* from_above = dy + token * z.all + h * z.e;
        for (std::int64_t i = 0; i < z.e; ++i) now.part(0, b)[i] += from_above[i];
        CellBackward s{};
        s.width = z.e;
        s.gate_stride = z.all;
        s.saved = saved + (token * shape.heads + h) * kind.saved * z.e;
        for (int which = 0; which < kind.states; ++which) {
          s.d_states[which] = now.part(which, b);
          if (t == 0) {
            s.before[which] = state ? state + now.place(which, b) : zeros.data();
          } else if (which == 0) {
            s.before[which] = y + (token - 1) * z.all + h * z.e;
          } else if (kind.saved_state[which] >= 0) {
            s.before[which] = saved + ((token - 1) * shape.heads + h) * kind.saved * z.e +
                              kind.saved_state[which] * z.e;
          }
        }
        s.d_x = dx + token * z.token + h * z.e;
        if (d_back != nullptr) s.d_back = d_back + token * z.token + h * z.e;
        s.d_raw = raw.data() + b * z.gates * z.e;
        kind.backward(s);
      }
      TileProduct through =
          tile_product(now.count, {raw.data(), z.gates * z.e}, packed[static_cast<std::size_t>(h)],
                       {now.part(0, 0), z.e});
      through.base = {now.part(0, 0), z.e};
      gemm_tile(through);
    }
    now.store(d_state);
  });
  if (d_recurrent == nullptr && d_bias == nullptr) return;
  const float* const d_raw = d_back == nullptr ? dx : d_back;
  share_work(static_cast<std::size_t>(z.gates * shape.heads), z.work, [&](std::size_t item) {
    const auto i = static_cast<std::int64_t>(item);
    weight_gradients(shape, z, i / z.gates, i % z.gates, state, y, d_raw, d_recurrent, d_bias);
  });
}

}  // namespace shellgame
