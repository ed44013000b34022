// A pass by a permutation of the values, in blocks.
#include <algorithm>
#include <vector>

#include "shellgame/passes/arrangements.h"
#include "shellgame/passes/pass.h"
#include "shellgame/passes/tiles.h"
#include "shellgame/system/threads.h"

namespace shellgame {

// Blocks of the last variables: the rest of a state gives the block that it comes from, and the set
// of the values that are left gives the order inside.
template <class Real>
void move_values(int n, Permutation s, const MixPass<Real>& pass) {
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
    PassScratch<Real>& scratch = PassScratch<Real>::of_thread(1, run);
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

template void move_values(int, Permutation, const MixPass<float>&);
template void move_values(int, Permutation, const MixPass<double>&);

}  // namespace shellgame
