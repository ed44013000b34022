// OpenBLAS chooses its kernels by a table of processors. One that is newer than the table gets
// those of 2004: Debian's 0.3.21 runs an Intel Xeon of 2023 at a fifth of its speed. What the
// processor can do is therefore told beforehand, unless the user has said something.
#pragma once

#include <string>
#include <string_view>

namespace shellgame {

// OpenBLAS's name for kernels that use these instructions; "" where its own choice is left alone.
constexpr std::string_view blas_core_for(bool intel, bool avx2, bool avx512) {
  if (!intel || !avx2) return "";
  return avx512 ? "SkylakeX" : "Haswell";
}

// Sets OPENBLAS_CORETYPE if it is not set. Only before OpenBLAS is loaded.
void choose_blas_core();

// Between products, threads of OpenBLAS and of OpenMP wait busily for some milliseconds, on cores
// that our own threads need by then: a training step took a fifth to a tenth longer. Tells both to
// sleep instead, unless the user has said something. Only before they are loaded.
void let_waiting_threads_sleep();

// Which kernels are in use, such as SkylakeX; "" if OpenBLAS is not loaded.
std::string blas_core_in_use();

}  // namespace shellgame
