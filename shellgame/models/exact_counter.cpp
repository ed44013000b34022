// The counter of the exact models: where its rotation stands at each token of a line.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "shellgame/models/exact_reader.h"

namespace shellgame {
namespace {

using Direction = Counter::Direction;
using Square = std::array<Direction, 2>;  // rows

constexpr Square kStart = {{{1, 0}, {0, 1}}};

double dot(const Direction& a, const Direction& b) { return a[0] * b[0] + a[1] * b[1]; }

Direction unit(const Direction& d) {
  const double length = std::sqrt(dot(d, d));
  return {d[0] / length, d[1] / length};
}

Direction at_angle(double angle) { return {std::cos(angle), std::sin(angle)}; }

// (I - 2 k k^T) state
void reflect(Square& state, const Direction& k) {
  for (std::size_t c = 0; c < 2; ++c) {
    const double along = k[0] * state[0][c] + k[1] * state[1][c];
    for (std::size_t r = 0; r < 2; ++r) state[r][c] -= 2 * k[r] * along;
  }
}

// The largest cosine between two of them, from `first` on.
double closest(const std::vector<Direction>& directions, std::size_t first) {
  double most = -1;
  for (std::size_t i = first; i < directions.size(); ++i) {
    for (std::size_t j = first; j < i; ++j)
      most = std::max(most, dot(directions[i], directions[j]));
  }
  return most;
}

// What a print of all variables and its output make of the counter. Its newline sets the first row
// only, so the directions depend on the angle at which the two keys lie.
void follow_full_print(Counter& counter, int n) {
  Square state = kStart;
  for (int p = 0; p < n; ++p) {
    if (p > 0) reflect(state, counter.second_key);
    reflect(state, counter.first_key);
  }
  state[0] = kStart[0];
  counter.values.clear();
  counter.spaces.assign(1, kStart[0]);
  for (int k = 0; k < n; ++k) {
    reflect(state, counter.first_key);
    counter.values.push_back(unit(state[0]));
    reflect(state, counter.second_key);
    if (k + 1 < n) counter.spaces.push_back(unit(state[0]));
  }
}

}  // namespace

Counter::Counter(int variables) {
  const int n = variables;
  const double between = std::numbers::pi / (2 * n);
  // Both keys must be positive, for SiLU. Of the angles that allow it the one is taken that keeps
  // the places in a full print's output farthest apart.
  constexpr int kAngles = 180;
  double best = 2, best_angle = 0;
  for (int i = 1; i < kAngles; ++i) {
    const double angle = (std::numbers::pi / 2 - between) * i / kAngles;
    first_key = at_angle(angle);
    second_key = at_angle(angle + between);
    follow_full_print(*this, n);
    const double worst = std::max(closest(values, 0), closest(spaces, 1));
    if (worst < best) {
      best = worst;
      best_angle = angle;
    }
  }
  first_key = at_angle(best_angle);
  second_key = at_angle(best_angle + between);
  follow_full_print(*this, n);
  Square state = kStart;
  for (int p = 0; p < 2 * n; ++p) {
    if (p > 0) reflect(state, second_key);
    reflect(state, first_key);
    places.push_back(state[0]);
  }
}

Counter::Test Counter::test(const std::vector<Direction>& directions, std::size_t k,
                            std::size_t first, const std::vector<int>& channels) {
  double nearest = -1;
  for (std::size_t j = first; j < directions.size(); ++j) {
    if (j != k) nearest = std::max(nearest, dot(directions[j], directions[k]));
  }
  const double threshold = (1 + nearest) / 2;
  return {
      {{channels[0], directions[k][0]}, {channels[1], directions[k][1]}}, threshold, 1 - threshold};
}

}  // namespace shellgame
