#include "shellgame/random/philox.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/random/philox.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set; the best is chosen at run time
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The blocks first, first + 1, ... side by side, one a lane; words[4 b + w] is word w of block b.
void philox_blocks(std::uint32_t first, std::uint32_t lane, std::uint64_t index, std::uint64_t seed,
                   std::uint32_t* words) {
#if HWY_TARGET == HWY_SCALAR  // has no pairs of lanes to multiply
  for (std::uint32_t b = 0; b < kPhiloxBlocks; ++b) {
    const PhiloxBlock block =
        philox4x32({first + b, lane, static_cast<std::uint32_t>(index),
                    static_cast<std::uint32_t>(index >> 32)},
                   static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    std::copy(block.begin(), block.end(), words + 4 * b);
  }
#else
  const hn::CappedTag<std::uint32_t, kPhiloxBlocks> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  using V = hn::Vec<decltype(d)>;
  const V high_half = hn::BitCast(d, hn::Set(d64, 0xFFFFFFFF00000000u));
  for (std::uint32_t b = 0; b < kPhiloxBlocks; b += static_cast<std::uint32_t>(hn::Lanes(d))) {
    V c0 = hn::Iota(d, first + b);
    V c1 = hn::Set(d, lane);
    V c2 = hn::Set(d, static_cast<std::uint32_t>(index));
    V c3 = hn::Set(d, static_cast<std::uint32_t>(index >> 32));
    std::uint32_t key0 = static_cast<std::uint32_t>(seed),
                  key1 = static_cast<std::uint32_t>(seed >> 32);
    // Products of 32 bits by 32 come for even lanes; odd lanes are moved down, and the halves put
    // together again.
    const auto multiply = [&](V a, std::uint32_t by, V& high, V& low) {
      const V factor = hn::Set(d, by);
      const auto even = hn::MulEven(a, factor);
      const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, a))), factor);
      low = hn::Or(hn::AndNot(high_half, hn::BitCast(d, even)),
                   hn::BitCast(d, hn::ShiftLeft<32>(odd)));
      high =
          hn::Or(hn::BitCast(d, hn::ShiftRight<32>(even)), hn::And(high_half, hn::BitCast(d, odd)));
    };
    for (int round = 0; round < 10; ++round) {
      V high0, low0, high1, low1;
      multiply(c0, 0xD2511F53u, high0, low0);
      multiply(c2, 0xCD9E8D57u, high1, low1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, key0));
      c1 = low1;
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, key1));
      c3 = low0;
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, words + 4 * b);
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(philox_blocks);

void RandomStream::refill() {
  HWY_DYNAMIC_DISPATCH(philox_blocks)(block_, lane_, index_, seed_, words_.data());
  block_ += kPhiloxBlocks;
  used_ = 0;
}

std::uint64_t RandomStream::below64(std::uint64_t bound) {
  // Rejection below the smallest power of two that holds the bound.
  std::uint64_t mask = bound - 1;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const std::uint64_t high = next(), low = next();
    const std::uint64_t draw = ((high << 32) | low) & mask;
    if (draw < bound) return draw;
  }
}

}  // namespace shellgame
#endif  // HWY_ONCE
