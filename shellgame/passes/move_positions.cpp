// A pass by a permutation of the variables, in tiles.
#include <algorithm>
#include <memory>
#include <vector>

#include "shellgame/passes/arrangements.h"
#include "shellgame/passes/pass.h"
#include "shellgame/passes/tiles.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

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

}  // namespace

template <class Real>
void move_positions(int n, Permutation s, const MixPass<Real>& pass) {
  const PositionPlan plan(n, s);
  const Tiles &to = *plan.to, &from = *plan.from;
  const std::size_t runs = to.runs(), run = to.run();
  const std::uint16_t* table = plan.table ? plan.table->data() : nullptr;
  const std::vector<int>& fixed = to.fixed();
  const bool pairs = pass.takes_pairs(s);
  const Items items(n, static_cast<int>(fixed.size()));
  parallel_for(items.count, [&](std::size_t item) {
    PassScratch<Real>& scratch = PassScratch<Real>::of_thread(runs, run);
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

template void move_positions(int, Permutation, const MixPass<float>&);
template void move_positions(int, Permutation, const MixPass<double>&);

}  // namespace shellgame
