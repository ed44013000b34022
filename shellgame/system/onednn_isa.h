// oneDNN multiplies 16-bit numbers for LibTorch, by the matrix tiles (AMX) of Intel's processors
// since 2023 where it finds them. It asks the kernel whether it may, and under some hypervisors and
// sandboxes is told so and dies of SIGILL at its first tile. Nothing here depends on that speed, so
// on such processors it is told beforehand to stay below, unless the user has said something.
#pragma once

#include <string>
#include <string_view>

namespace shellgame {

// What oneDNN may use at most (its own name) on a processor with or without tiles; "" where its own
// choice is left alone. A bound that the processor does not reach changes nothing.
constexpr std::string_view onednn_isa_for(bool tiles) { return tiles ? "AVX512_CORE_BF16" : ""; }

// Whether the processor lists tiles. SHELLGAME_PRETEND_TILES=1 stands for one that does, in tests.
bool processor_has_tiles();

// Sets DNNL_MAX_CPU_ISA if neither it nor ONEDNN_MAX_CPU_ISA is set. oneDNN reads them at its first
// product, so that LibTorch may be loaded already.
void choose_onednn_isa(bool tiles = processor_has_tiles());

// Which instructions oneDNN uses, such as AVX2; "" if it does not tell, or is not loaded. Its
// choice is fixed from then on.
std::string onednn_isa_in_use();

}  // namespace shellgame
