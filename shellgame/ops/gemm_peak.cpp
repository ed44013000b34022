#include "shellgame/ops/gemm_peak.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <chrono>
#include <cstdint>

#include "shellgame/system/processor_time.h"

namespace shellgame {

GemmPeak measure_gemm_peak(int rounds, PeakClock clock) {
  const bool processor = clock == PeakClock::kProcessor && at::get_num_threads() == 1;
  const auto now = [&] {
    return processor
               ? thread_processor_seconds()
               : std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
                     .count();
  };
  constexpr std::int64_t kSize = 1024;
  const at::NoGradGuard no_gradients;
  // Which numbers they are does not matter, and Torch's own generator is left alone.
  const at::Tensor a = at::linspace(-1, 1, kSize * kSize).view({kSize, kSize});
  const at::Tensor b = a.flip(0).contiguous();
  at::Tensor c = at::empty({kSize, kSize});
  const auto best = [&](const at::Tensor& left, const at::Tensor& right) {
    double least = 1e9;
    at::mm_out(c, left, right);
    for (int i = 0; i < rounds; ++i) {
      const double start = now();
      at::mm_out(c, left, right);
      least = std::min(least, now() - start);
    }
    return 2.0 * kSize * kSize * kSize / least;
  };
  return {.nn = best(a, b), .nt = best(a, b.t()), .tn = best(a.t(), b)};
}

}  // namespace shellgame
