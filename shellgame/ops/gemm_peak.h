// The machine's own peak: what utilisation is measured against.
#pragma once

#include <algorithm>

namespace shellgame {

// FLOP a second of the best of the three forms (plain, one side transposed) at 1024 cubed, on all
// threads.
struct GemmPeak {
  double nn = 0, nt = 0, tn = 0;
  double best() const { return std::max({nn, nt, tn}); }
};
// By the clock on the wall, as what is compared with it side by side; with one thread also by its
// processor time, which neighbours on the machine change less.
enum class PeakClock { kWall, kProcessor };
GemmPeak measure_gemm_peak(int rounds = 7, PeakClock clock = PeakClock::kWall);

}  // namespace shellgame
