// mix() and mix_in_place() of permutation_vector.h. One pass moves the vector by one permutation;
// the identity rides along. For an involution a pass takes a tile and its partner together, so that
// every entry comes from memory once, also in place.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "shellgame/beliefs/arrangements.h"
#include "shellgame/beliefs/permutation_vector.h"
#include "shellgame/beliefs/tiles.h"
#include "shellgame/system/error.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

bool is_involution(Permutation s) { return then(s, s).is_identity(); }

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
struct Pass {
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
struct Scratch {
  std::vector<Real> values, partner_values;
  std::vector<std::size_t> starts, partner_starts;

  static Scratch& of_thread(std::size_t runs, std::size_t run) {
    static thread_local Scratch scratch;
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

// The tiles that a permutation of the variables takes to each other. Both contain the last
// variables, so that whole runs are read and written.
struct PositionPlan {
  PositionPlan(int n, Permutation s) {
    const int untouched = n - s.moved_points();
    int last = std::min(untouched, kLongRun);
    unsigned to_set = last_variables(n, last);
    if (untouched < kShortRun) {
      for (last = std::min(n, kShortRun);; --last) {
        to_set = last_variables(n, last);
        for (int v = 0; v < n; ++v)
          if (s(v) >= n - last) to_set |= 1u << v;
        if (size_of_set(to_set) <= kMostVariables) break;
      }
    }
    unsigned from_set = 0;
    for (int v = 0; v < n; ++v)
      if ((to_set >> v) & 1u) from_set |= 1u << s(v);
    to = std::make_unique<Tiles>(n, to_set, last);
    from = std::make_unique<Tiles>(n, from_set, last);
    if (untouched >= kShortRun) return;
    std::vector<int> sigma;
    for (const int v : to->free())
      sigma.push_back(
          static_cast<int>(std::ranges::find(from->free(), s(v)) - from->free().begin()));
    table = position_table(static_cast<int>(sigma.size()), Permutation::from_images(sigma));
  }

  static constexpr int kShortRun = 6, kLongRun = 7;
  static constexpr unsigned kMostVariables = 8;
  static unsigned last_variables(int n, int count) {
    return all_values(n) & ~all_values(n - count);
  }

  std::unique_ptr<Tiles> to, from;
  std::shared_ptr<const Table> table;  // null if runs are moved as they are
};

template <class Real>
void move_positions(int n, Permutation s, const Pass<Real>& pass) {
  const PositionPlan plan(n, s);
  const Tiles &to = *plan.to, &from = *plan.from;
  const std::size_t runs = to.runs(), run = to.run();
  const std::uint16_t* table = plan.table ? plan.table->data() : nullptr;
  const std::vector<int>& fixed = to.fixed();
  const bool pairs = pass.takes_pairs(s);
  const Items items(n, static_cast<int>(fixed.size()));
  parallel_for(items.count, [&](std::size_t item) {
    Scratch<Real>& scratch = Scratch<Real>::of_thread(runs, run);
    std::vector<std::size_t>&starts = scratch.starts, &sources = scratch.partner_starts;
    Places places{}, source_places{};
    const auto step = [&](std::size_t rank, int level, int value, unsigned left) {
      const int v = fixed[index(level)];
      places[index(v)] = source_places[index(s(v))] = static_cast<std::uint8_t>(value);
      return rank * index(n - level) + rank_in(left, value);
    };
    walk(n, static_cast<int>(fixed.size()), items, item, std::size_t{0}, step,
         [&](std::size_t rank, unsigned left) {
           int order = 0;  // of the tile and its source, if they take turns
           if (pairs) {
             for (const int v : fixed)
               if (s(v) != v) {
                 order = places[index(v)] < source_places[index(v)] ? -1 : 1;
                 break;
               }
             if (order > 0) return;  // its partner does it
           }
           if (runs == 1)
             starts[0] = rank * run;
           else
             to.find_runs(places, left, starts.data());
           if (pairs && order == 0)
             std::copy_n(starts.begin(), runs, sources.begin());
           else
             from.find_runs(source_places, left, sources.data());
           if (table == nullptr) {
             if (pairs)
               pass.write_pair(starts[0], sources[0], run);
             else
               pass.write(starts[0], pass.own_at(starts[0]), pass.in + sources[0], nullptr, run);
             return;
           }
           // Also a single run: a copy streams from memory, a gather would wait for it.
           collect(pass.in, sources, runs, run, scratch.partner_values);
           const Real* source = scratch.partner_values.data();
           if (order != 0) collect(pass.in, starts, runs, run, scratch.values);
           for (std::size_t k = 0; k < runs; ++k) {
             const std::size_t at = starts[k];
             pass.write(at, pass.own_at(at), source, table + k * run, run);
           }
           if (order == 0) return;
           for (std::size_t k = 0; k < runs; ++k)
             pass.write(sources[k], source + k * run, scratch.values.data(), table + k * run, run);
         });
  });
}

// Blocks of the last variables: the rest of a state gives the block that it comes from, and the set
// of the values that are left gives the order inside.
template <class Real>
void move_values(int n, Permutation s, const Pass<Real>& pass) {
  const Permutation back = s.inverse();
  const int last = std::min(n, 5);
  const std::size_t run = factorial(last);
  const Table& tables = value_tables(last);
  std::vector<const std::uint16_t*> table_of(std::size_t{1} << n, nullptr);
  for (unsigned set = 0; set < table_of.size(); ++set) {
    if (size_of_set(set) != static_cast<unsigned>(last)) continue;
    unsigned source_set = 0;
    for (int x = 0; x < n; ++x)
      if ((set >> x) & 1u) source_set |= 1u << back(x);
    Places pi{};
    std::size_t count = 0;
    for (unsigned rest = set; rest != 0; rest &= rest - 1)
      pi[count++] = static_cast<std::uint8_t>(rank_in(source_set, back(__builtin_ctz(rest))));
    const std::size_t row = rank_of(last, pi);
    if (row != 0) table_of[set] = tables.data() + row * run;
  }

  struct Node {
    std::size_t rank, source_rank;
    unsigned source_left;
  };
  const bool pairs = pass.takes_pairs(s), in_place = pass.in == pass.out;
  const Items items(n, n - last);
  parallel_for(items.count, [&](std::size_t item) {
    Scratch<Real>& scratch = Scratch<Real>::of_thread(1, run);
    const auto step = [&](const Node& node, int level, int value, unsigned left) {
      const std::size_t width = index(n - level);
      const int source = back(value);
      return Node{node.rank * width + rank_in(left, value),
                  node.source_rank * width + rank_in(node.source_left, source),
                  node.source_left & ~(1u << source)};
    };
    walk(n, n - last, items, item, Node{0, 0, all_values(n)}, step,
         [&](const Node& node, unsigned left) {
           if (pairs && node.source_rank < node.rank) return;  // its partner does it
           const std::size_t at = node.rank * run, from = node.source_rank * run;
           const std::uint16_t* table = table_of[left];
           const bool partner = pairs && at != from;
           if (partner && table == nullptr) {
             pass.write_pair(at, from, run);
             return;
           }
           const Real *values = pass.in + at, *source = pass.in + from;
           if (in_place) {
             std::copy_n(source, run, scratch.partner_values.data());
             source = scratch.partner_values.data();
             if (partner) {
               std::copy_n(values, run, scratch.values.data());
               values = scratch.values.data();
             }
           }
           pass.write(at, pass.own_at(at), source, table, run);
           if (partner) pass.write(from, source, values, table_of[node.source_left], run);
         });
  });
}

template <class Real>
void run_pass(int n, Acts acts, Permutation s, const Pass<Real>& pass) {
  if (acts == Acts::kPositions)
    move_positions(n, s, pass);
  else
    move_values(n, s, pass);
}

// A mixture without repetitions: equal outcomes are one, with the sum of their weights.
template <class Real>
struct Mixture {
  Mixture(int n, std::span<const Permutation> outcomes, std::span<const Real> weights) {
    permutation_count(n);
    if (outcomes.empty() || outcomes.size() != weights.size())
      wrong_use("A mixture must have a weight for each of its outcomes, not {} weights for {}.",
                weights.size(), outcomes.size());
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      const Permutation s = outcomes[k];
      if (s.moved_points() > n)
        wrong_use("A mixture over S_{} must move only {} points, but {} is among its outcomes.", n,
                  n, s.to_cycles());
      if (s.is_identity()) {
        has_identity = true;
        identity_weight += weights[k];
        continue;
      }
      const auto known = std::ranges::find(moves, s, &Move::s);
      if (known == moves.end())
        moves.push_back({s, weights[k]});
      else
        known->weight += weights[k];
    }
  }

  struct Move {
    Permutation s;
    Real weight;
  };
  bool has_identity = false;
  Real identity_weight = 0;
  std::vector<Move> moves;
};

template <class Real>
void scaled_copy(int n, Real factor, const Real* in, Real* out) {
  const Items items(n, n);
  const std::size_t size = permutation_count(n) / items.count;
  parallel_for(items.count, [&](std::size_t item) {
    const Real* from = in + item * size;
    Real* to = out + item * size;
#pragma GCC ivdep
    for (std::size_t t = 0; t < size; ++t) to[t] = factor * from[t];
  });
}

}  // namespace

std::size_t permutation_count(int n) {
  if (n < 0 || n > 13) wrong_use("A vector over S_n must have n between 0 and 13, not {}.", n);
  return factorial(n);
}

template <class Real>
void mix(int n, Acts acts, std::span<const Permutation> outcomes, std::span<const Real> weights,
         const Real* in, Real* out) {
  const Mixture<Real> mixture(n, outcomes, weights);
  if (mixture.moves.empty()) scaled_copy(n, mixture.identity_weight, in, out);
  Pass<Real> pass{in, mixture.has_identity ? in : nullptr, mixture.identity_weight, 0, out};
  for (const auto& move : mixture.moves) {
    pass.weight = move.weight;
    run_pass(n, acts, move.s, pass);
    pass.own = out;  // the others add to it
    pass.own_weight = 1;
  }
}

bool can_mix_in_place(std::span<const Permutation> outcomes) {
  Permutation moves;
  for (const Permutation s : outcomes) {
    if (s.is_identity()) continue;
    if (!is_involution(s) || !(moves.is_identity() || moves == s)) return false;
    moves = s;
  }
  return !outcomes.empty();
}

template <class Real>
void mix_in_place(int n, Acts acts, std::span<const Permutation> outcomes,
                  std::span<const Real> weights, Real* data) {
  const Mixture<Real> mixture(n, outcomes, weights);
  if (!can_mix_in_place(outcomes))
    wrong_use("A mixture in place must have the identity and one involution as its outcomes.");
  if (mixture.moves.empty())
    scaled_copy(n, mixture.identity_weight, data, data);
  else
    run_pass(n, acts, mixture.moves[0].s,
             Pass<Real>{data, data, mixture.identity_weight, mixture.moves[0].weight, data});
}

template void mix(int, Acts, std::span<const Permutation>, std::span<const float>, const float*,
                  float*);
template void mix(int, Acts, std::span<const Permutation>, std::span<const double>, const double*,
                  double*);
template void mix_in_place(int, Acts, std::span<const Permutation>, std::span<const float>, float*);
template void mix_in_place(int, Acts, std::span<const Permutation>, std::span<const double>,
                           double*);

}  // namespace shellgame
