// A counter-based generator (Philox4x32-10, Salmon et al. 2011): word i of a stream is a pure
// function of (seed, index, lane, i). Samples are therefore reproducible one by one, on any number
// of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace shellgame {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// One block of the published function: ten rounds on a 128-bit counter with a 64-bit key.
inline PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// What a stream is for. Two lanes of the same (seed, index) are independent streams.
enum class Lane : std::uint32_t {
  kProgram = 0,
  kPythonSeed = 1,
  kSequence = 2,
  kWeights = 3,
  kTrials = 4,
  kBootstrap = 5
};

// A stream makes so many blocks at once.
inline constexpr std::uint32_t kPhiloxBlocks = 8;

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t index, Lane lane = Lane::kProgram)
      : seed_(seed), index_(index), lane_(static_cast<std::uint32_t>(lane)) {}

  std::uint32_t next() {
    if (used_ == kBuffered) refill();
    return words_[used_++];
  }

  // Uniform in [0, bound), without bias (Lemire's method). bound must be at least 1.
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold)
        product = std::uint64_t{next()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform in [0, bound) for 64-bit bounds.
  std::uint64_t below64(std::uint64_t bound);

  // Uniform in [0, 1) with 53 bits.
  double unit() {
    const std::uint64_t high = next() >> 5, low = next() >> 6;
    return static_cast<double>((high << 26) | low) * 0x1p-53;
  }

 private:
  static constexpr std::size_t kBuffered = 4 * kPhiloxBlocks;
  void refill();

  std::uint64_t seed_, index_;
  std::uint32_t lane_;
  std::uint32_t block_ = 0;  // 2^32 blocks of 4 words: longer than any trace
  std::size_t used_ = kBuffered;
  alignas(32) std::array<std::uint32_t, kBuffered> words_;
};

}  // namespace shellgame
