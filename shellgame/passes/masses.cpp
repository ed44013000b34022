// reveal(), predict(), marginals(), sum() and scale() of permutation_vector.h. Each item of a pass
// adds up its own entries, in a fixed order; the sums of the items are added in their order.
#include <algorithm>
#include <cstring>
#include <vector>

#include "shellgame/passes/arrangements.h"
#include "shellgame/passes/permutation_vector.h"
#include "shellgame/passes/tiles.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr int kLanes = 8;  // independent sums, for the processor's sake

void check_variable(int n, int variable) {
  permutation_count(n);
  if (variable < 0 || variable >= n)
    wrong_use("A variable of S_{} must be between 0 and {}, not {}.", n, n - 1, variable);
}

// The sum of term(0), term(1), ...
template <class Term>
double sum_of(std::size_t count, const Term& term) {
  double lanes[kLanes] = {};
  std::size_t t = 0;
  for (; t + kLanes <= count; t += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(t + lane);
  for (std::size_t lane = 0; t < count; ++t, ++lane) lanes[lane] += term(t);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

template <class Real>
double sum_run(const Real* data, std::size_t count) {
  return sum_of(count, [=](std::size_t t) { return static_cast<double>(data[t]); });
}

template <class Real>
double scale_run(Real* data, Real factor, std::size_t count) {
  return sum_of(count, [=](std::size_t t) { return static_cast<double>(data[t] *= factor); });
}

// factors[t] is 0 where an entry goes.
template <class Real>
double mask_run(Real* data, const Real* factors, std::size_t count) {
  return sum_of(count, [=](std::size_t t) { return static_cast<double>(data[t] *= factors[t]); });
}

double add_up(const std::vector<double>& sums) {
  double result = 0;
  for (const double s : sums) result += s;
  return result;
}

// Runs in which `variable` has one value: leaf(item, start, run, value).
template <class Leaf>
void each_run(int n, int variable, const Items& items, const Leaf& leaf) {
  const int length = std::max(variable + 1, items.depth);
  const std::size_t run = factorial(n - length);
  struct Node {
    std::size_t rank;
    int value;
  };
  parallel_for(items.count, [&](std::size_t item) {
    const auto step = [&](const Node& node, int level, int value, unsigned left) {
      return Node{node.rank * index(n - level) + rank_in(left, value),
                  level == variable ? value : node.value};
    };
    walk(n, length, items, item, Node{0, 0}, step,
         [&](const Node& node, unsigned) { leaf(item, node.rank * run, run, node.value); });
  });
}

// Which entries of a block of the last variables survive depends on the set of the values that are
// left: the allowed ones have ranks in it, and a table for each set of ranks has the factors.
template <class Real>
class BlockMasks {
 public:
  BlockMasks(int n, int last, int variable, unsigned allowed, Real factor)
      : ranks_(std::size_t{1} << n, 0), tables_(std::size_t{1} << last) {
    const std::vector<std::uint8_t>& lists = all_lists(last);
    for (unsigned set = 0; set < ranks_.size(); ++set) {
      if (size_of_set(set) != static_cast<unsigned>(last)) continue;
      unsigned rank = 0, kept = 0;
      for (unsigned rest = set; rest != 0; rest &= rest - 1, ++rank)
        kept |= ((allowed >> __builtin_ctz(rest)) & 1u) << rank;
      ranks_[set] = static_cast<std::uint8_t>(kept);
      std::vector<Real>& table = tables_[kept];
      if (kept == 0 || !table.empty()) continue;
      for (std::size_t t = 0; t < factorial(last); ++t) {
        const int value = lists[t * index(last) + index(variable - (n - last))];
        table.push_back((kept >> value) & 1u ? factor : Real{0});
      }
    }
  }
  // Null if nothing is kept.
  const Real* factors(unsigned left) const {
    const std::vector<Real>& table = tables_[ranks_[left]];
    return table.empty() ? nullptr : table.data();
  }

 private:
  std::vector<std::uint8_t> ranks_;
  std::vector<std::vector<Real>> tables_;
};

// The sums of the last variables, by adding up blocks that have the same values left, entry by
// entry, and looking at variables only then. With `all` the first variables' sums too.
class BlockSums {
 public:
  BlockSums(int n, bool all)
      : n_(n),
        last_(std::min(n, 4)),
        all_(all),
        block_(factorial(last_)),
        ranks_(all_lists(last_)) {
    slots_.resize(std::size_t{1} << n);
    for (unsigned set = 0; set < slots_.size(); ++set)
      if (size_of_set(set) == static_cast<unsigned>(last_)) {
        slots_[set] = sets_.size();
        sets_.push_back(set);
      }
  }

  // Adds the item's entries to sums[variable * n + value].
  template <class Real>
  void add_item(const Items& items, std::size_t item, const Real* data, double* sums) const {
    static thread_local std::vector<double> blocks;
    blocks.assign(sets_.size() * block_, 0.0);
    Places places{};
    const auto step = [&](std::size_t rank, int level, int value, unsigned left) {
      places[index(level)] = static_cast<std::uint8_t>(value);
      return rank * index(n_ - level) + rank_in(left, value);
    };
    const auto leaf = [&](std::size_t rank, unsigned left) {
      const Real* from = data + rank * block_;
      double* to = blocks.data() + slots_[left] * block_;
#pragma GCC ivdep
      for (std::size_t t = 0; t < block_; ++t) to[t] += static_cast<double>(from[t]);
      if (!all_) return;
      const double mass = sum_run(from, block_);
      for (int v = 0; v < n_ - last_; ++v) sums[index(v * n_ + places[index(v)])] += mass;
    };
    walk(n_, n_ - last_, items, item, std::size_t{0}, step, leaf);
    for (std::size_t slot = 0; slot < sets_.size(); ++slot) add_block(slot, blocks, sums);
  }

 private:
  void add_block(std::size_t slot, const std::vector<double>& blocks, double* sums) const {
    int values[4] = {}, count = 0;
    for (unsigned rest = sets_[slot]; rest != 0; rest &= rest - 1)
      values[count++] = __builtin_ctz(rest);
    for (std::size_t t = 0; t < block_; ++t)
      for (int i = 0; i < last_; ++i) {
        const int value = values[ranks_[t * index(last_) + index(i)]];
        sums[index((n_ - last_ + i) * n_ + value)] += blocks[slot * block_ + t];
      }
  }

  int n_, last_;
  bool all_;
  std::size_t block_;
  const std::vector<std::uint8_t>& ranks_;  // by entry of a block and variable
  std::vector<std::size_t> slots_;          // by set of values
  std::vector<unsigned> sets_;              // by slot
};

template <class Real>
std::vector<double> block_sums(int n, bool all, const Real* data) {
  const BlockSums blocks(n, all);
  const Items items(n, n - std::min(n, 4), 9);  // larger items, as each has n * n sums
  const std::size_t cells = index(n * n);
  std::vector<double> by_item(items.count * cells), result(cells);
  parallel_for(items.count, [&](std::size_t item) {
    blocks.add_item(items, item, data, by_item.data() + item * cells);
  });
  for (std::size_t i = 0; i < by_item.size(); ++i) result[i % cells] += by_item[i];
  return result;
}

}  // namespace

template <class Real>
double reveal(int n, int variable, std::uint32_t allowed_values, Real* data, Real factor) {
  check_variable(n, variable);
  const int last = std::min(n, 5);
  const Items items(n, n - last);
  std::vector<double> sums(items.count);
  if (variable < n - last) {
    each_run(n, variable, items,
             [&](std::size_t item, std::size_t start, std::size_t run, int value) {
               if (((allowed_values >> value) & 1u) == 0)
                 std::fill_n(data + start, run, Real{0});
               else if (factor == 1)
                 sums[item] += sum_run(data + start, run);
               else
                 sums[item] += scale_run(data + start, factor, run);
             });
    return add_up(sums);
  }
  const std::size_t run = factorial(last);
  const BlockMasks<Real> masks(n, last, variable, allowed_values, factor);
  const auto step = [&](std::size_t rank, int level, int value, unsigned left) {
    return rank * index(n - level) + rank_in(left, value);
  };
  parallel_for(items.count, [&](std::size_t item) {
    double sum = 0;  // not in sums[item]: neighbours of it belong to other threads
    walk(n, n - last, items, item, std::size_t{0}, step, [&](std::size_t rank, unsigned left) {
      const Real* factors = masks.factors(left);
      if (factors == nullptr)
        std::fill_n(data + rank * run, run, Real{0});
      else
        sum += mask_run(data + rank * run, factors, run);
    });
    sums[item] = sum;
  });
  return add_up(sums);
}

template <class Real>
void predict(int n, int variable, const Real* data, double* sums) {
  check_variable(n, variable);
  if (variable >= n - 4) {
    const std::vector<double> all = block_sums(n, false, data);
    std::copy_n(all.begin() + variable * n, n, sums);
    return;
  }
  const Items items(n, n);
  std::vector<double> by_item(items.count * index(n));
  each_run(n, variable, items,
           [&](std::size_t item, std::size_t start, std::size_t run, int value) {
             by_item[item * index(n) + index(value)] += sum_run(data + start, run);
           });
  std::fill_n(sums, n, 0.0);
  for (std::size_t i = 0; i < by_item.size(); ++i) sums[i % index(n)] += by_item[i];
}

template <class Real>
void marginals(int n, const Real* data, double* sums) {
  permutation_count(n);
  std::ranges::copy(block_sums(n, true, data), sums);
}

template <class Real>
double sum(int n, const Real* data) {
  const std::size_t size = permutation_count(n);
  const Items items(n, n);
  std::vector<double> sums(items.count);
  const std::size_t part = size / items.count;
  parallel_for(items.count,
               [&](std::size_t item) { sums[item] = sum_run(data + item * part, part); });
  return add_up(sums);
}

template <class Real>
void scale(int n, Real factor, Real* data) {
  const std::size_t size = permutation_count(n);
  const Items items(n, n);
  const std::size_t part = size / items.count;
  parallel_for(items.count, [&](std::size_t item) {
    Real* from = data + item * part;
    for (std::size_t t = 0; t < part; ++t) from[t] *= factor;
  });
}

template double reveal(int, int, std::uint32_t, float*, float);
template double reveal(int, int, std::uint32_t, double*, double);
template void predict(int, int, const float*, double*);
template void predict(int, int, const double*, double*);
template void marginals(int, const float*, double*);
template void marginals(int, const double*, double*);
template double sum(int, const float*);
template double sum(int, const double*);
template void scale(int, float, float*);
template void scale(int, double, double*);

}  // namespace shellgame
