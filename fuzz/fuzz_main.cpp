// The entry point that libFuzzer calls; FUZZ_READER names the reader (fuzz/readers.h).
#include <cstddef>
#include <cstdint>

#include "fuzz/readers.h"
#include "shellgame/text/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    shellgame::FUZZ_READER({reinterpret_cast<const char*>(data), size});
  } catch (const shellgame::Error&) {
    // A refusal with a sentence is what wrong input should get.
  }
  return 0;
}
