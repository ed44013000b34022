#include "shellgame/passes/tiles.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace shellgame {
namespace {

// All of S_m in order.
template <class Visit>
void each_state(int m, const Visit& visit) {
  Places places{};
  std::iota(places.begin(), places.begin() + m, std::uint8_t{0});
  do visit(places);
  while (std::next_permutation(places.begin(), places.begin() + m));
}

std::vector<std::uint8_t> make_lists(int r) {
  std::vector<std::uint8_t> lists;
  each_state(
      r, [&](const Places& list) { lists.insert(lists.end(), list.begin(), list.begin() + r); });
  return lists;
}

Table make_value_tables(int r) {
  Table table;
  table.reserve(factorial(r) * factorial(r));
  each_state(r, [&](const Places& pi) {
    each_state(r, [&](const Places& list) {
      Places source{};
      for (int i = 0; i < r; ++i) source[index(i)] = pi[list[index(i)]];
      table.push_back(static_cast<std::uint16_t>(rank_of(r, source)));
    });
  });
  return table;
}

}  // namespace

std::size_t rank_of(int m, const Places& list) {
  std::size_t rank = 0;
  unsigned left = all_values(m);
  for (int i = 0; i < m; ++i) {
    const int value = list[index(i)];
    rank = rank * index(m - i) + rank_in(left, value);
    left &= ~(1u << value);
  }
  return rank;
}

const std::vector<std::uint8_t>& all_lists(int r) {
  static const std::array<std::vector<std::uint8_t>, 6> lists = {
      make_lists(0), make_lists(1), make_lists(2), make_lists(3), make_lists(4), make_lists(5)};
  return lists[index(r)];
}

Tiles::Tiles(int n, unsigned variables, int run_variables) : n_(n), run_(factorial(run_variables)) {
  for (int v = 0; v < n; ++v) {
    ((variables >> v) & 1u ? free_ : fixed_).push_back(v);
    weight_.push_back(factorial(n - 1 - v));
  }
  const int m = static_cast<int>(free_.size());
  scattered_ = m - run_variables;
  runs_ = factorial(m) / run_;
  Places ranks{};
  const auto step = [&](std::size_t start, int level, int value, unsigned left) {
    ranks[index(level)] = static_cast<std::uint8_t>(value);
    return start + rank_in(left, value) * weight_[index(free_[index(level)])];
  };
  descend(0, scattered_, all_values(m), std::size_t{0}, step, [&](std::size_t start, unsigned) {
    own_start_.push_back(start);
    ranks_.insert(ranks_.end(), ranks.begin(), ranks.begin() + scattered_);
  });
}

// The digit of a variable in the rank counts the smaller values of variables to its right. Between
// two free variables that is own_start_; between two fixed ones it is the same for all runs; and
// between a fixed and a free one it depends on one value of the run, hence a table for each
// variable. What the last r variables add is a sum over their values: all that the scattered ones
// leave.
void Tiles::find_runs(const Places& places, unsigned left, std::size_t* starts) const {
  std::size_t start = 0;
  unsigned later = left;  // values of the tile and of fixed variables to the right
  for (std::size_t f = fixed_.size(); f-- > 0;) {
    const int v = fixed_[f];
    start += rank_in(later, places[index(v)]) * weight_[index(v)];
    later |= 1u << places[index(v)];
  }
  if (scattered_ == 0) {
    *starts = start;
    return;
  }
  // Unsigned numbers may wrap around in between.
  std::array<std::array<std::size_t, kMaxPoints>, kMaxPoints> cross;
  for (int i = 0; i < scattered_; ++i) {
    const int variable = free_[index(i)];
    std::size_t rank = 0;
    for (unsigned rest = left; rest != 0; rest &= rest - 1, ++rank) {
      const int value = __builtin_ctz(rest);
      std::size_t sum = 0;
      for (const int v : fixed_) {
        if (v < variable) continue;
        // The free variable counts the fixed one, which was taken to count it.
        if (places[index(v)] < value)
          sum += weight_[index(variable)];
        else
          sum -= weight_[index(v)];
      }
      cross[index(i)][rank] = sum;
    }
  }
  const std::uint8_t* ranks = ranks_.data();
  for (std::size_t k = 0; k < runs_; ++k) {
    std::size_t at = start + own_start_[k];
    for (int i = 0; i < scattered_; ++i) at += cross[index(i)][*ranks++];
    starts[k] = at;
  }
}

std::shared_ptr<const Table> position_table(int m, Permutation sigma) {
  static std::mutex mutex;
  static std::map<std::pair<int, Permutation>, std::shared_ptr<const Table>> known;
  static std::size_t entries = 0;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Table>& kept = known[{m, sigma}];
  if (kept) return kept;
  auto table = std::make_shared<Table>();
  table->reserve(factorial(m));
  each_state(m, [&](const Places& list) {
    Places source{};
    for (int i = 0; i < m; ++i) source[index(sigma(i))] = list[index(i)];
    table->push_back(static_cast<std::uint16_t>(rank_of(m, source)));
  });
  entries += table->size();
  if (entries > (1u << 20)) {  // 2 MB
    known.clear();
    entries = 0;
    return table;
  }
  return kept = std::move(table);
}

const Table& value_tables(int r) {
  static const std::array<Table, 6> tables = {make_value_tables(0), make_value_tables(1),
                                              make_value_tables(2), make_value_tables(3),
                                              make_value_tables(4), make_value_tables(5)};
  return tables[index(r)];
}

}  // namespace shellgame
