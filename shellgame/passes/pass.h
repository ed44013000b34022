// One pass of a mixture: the vector is moved by one permutation, and the identity rides along. For
// an involution a pass takes a tile and its partner together, so that every entry comes from memory
// once, also in place. For the files of permutation_vector.h only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "shellgame/groups/permutation.h"

namespace shellgame {

inline bool is_involution(Permutation s) { return then(s, s).is_identity(); }

// Vectors of 16 bytes, written out: left alone, GCC takes the indices of a gather through vector
// registers too, which costs more than all the rest.
template <class Real>
struct VectorOf {
  typedef Real Type __attribute__((vector_size(16)));
};
template <class Part, class Real>
Part load(const Real* from) {
  Part part;
  std::memcpy(&part, from, sizeof part);
  return part;
}
template <class Part, class Real>
void store(Real* to, Part part) {
  std::memcpy(to, &part, sizeof part);
}

// use(t, source[table[t]], ...) for all t, some of them at once.
template <class Real, class Use>
void gather(const Real* source, const std::uint16_t* table, std::size_t count, const Use& use) {
  using Vector = typename VectorOf<Real>::Type;
  constexpr std::size_t kLanes = sizeof(Vector) / sizeof(Real);
  std::size_t t = 0;
  for (; t + kLanes <= count; t += kLanes) {
    const std::uint16_t* at = table + t;
    if constexpr (kLanes == 2)
      use(t, Vector{source[at[0]], source[at[1]]});
    else
      use(t, Vector{source[at[0]], source[at[1]], source[at[2]], source[at[3]]});
  }
  for (; t < count; ++t) use(t, source[table[t]]);
}

// A part of a mixture: out = own_weight * own + weight * (in, moved). `own` is in, or out itself
// when the pass adds to what others left there, or null.
template <class Real>
struct MixPass {
  const Real* in;
  const Real* own;
  Real own_weight, weight;
  Real* out;

  const Real* own_at(std::size_t at) const { return own == nullptr ? nullptr : own + at; }
  bool takes_pairs(Permutation s) const { return own == in && is_involution(s); }

  // out[at + t] from source[t], or from source[table[t]]; own_values may be null.
  void write(std::size_t at, const Real* own_values, const Real* source, const std::uint16_t* table,
             std::size_t count) const {
    const Real w = weight, w0 = own_weight;
    Real* to = out + at;
    if (table == nullptr && own_values != nullptr) {
#pragma GCC ivdep
      for (std::size_t t = 0; t < count; ++t) to[t] = w0 * own_values[t] + w * source[t];
    } else if (table == nullptr) {
#pragma GCC ivdep
      for (std::size_t t = 0; t < count; ++t) to[t] = w * source[t];
    } else if (own_values != nullptr) {
      gather(source, table, count, [=](std::size_t t, auto moved) {
        store(to + t, w0 * load<decltype(moved)>(own_values + t) + w * moved);
      });
    } else {
      gather(source, table, count, [=](std::size_t t, auto moved) { store(to + t, w * moved); });
    }
  }

  // Two runs that are each other's source, entry by entry.
  void write_pair(std::size_t at, std::size_t partner, std::size_t count) const {
    const Real w = weight, w0 = own_weight;
    const Real *a = in + at, *b = in + partner;
    Real *to_a = out + at, *to_b = out + partner;
#pragma GCC ivdep
    for (std::size_t t = 0; t < count; ++t) {
      const Real x = a[t], y = b[t];
      to_a[t] = w0 * x + w * y;
      to_b[t] = w0 * y + w * x;
    }
  }
};

// Room for two tiles and for the places of their runs; a thread keeps it.
template <class Real>
struct PassScratch {
  std::vector<Real> values, partner_values;
  std::vector<std::size_t> starts, partner_starts;

  static PassScratch& of_thread(std::size_t runs, std::size_t run) {
    static thread_local PassScratch scratch;
    scratch.starts.resize(std::max(scratch.starts.size(), runs));
    scratch.partner_starts.resize(scratch.starts.size());
    scratch.values.resize(std::max(scratch.values.size(), runs * run));
    scratch.partner_values.resize(scratch.values.size());
    return scratch;
  }
};

template <class Real>
void collect(const Real* in, const std::vector<std::size_t>& starts, std::size_t runs,
             std::size_t run, std::vector<Real>& values) {
  for (std::size_t k = 0; k < runs; ++k)
    std::memcpy(values.data() + k * run, in + starts[k], run * sizeof(Real));
}

// The pass for a permutation s, by how it acts.
template <class Real>
void move_positions(int n, Permutation s, const MixPass<Real>& pass);
template <class Real>
void move_values(int n, Permutation s, const MixPass<Real>& pass);

}  // namespace shellgame
