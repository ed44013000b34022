#include "shellgame/random/philox.h"

namespace shellgame {

void RandomStream::refill() {
  // Eight independent blocks at once: the loop over blocks is the inner one, so that the compiler
  // vectorises it.
  std::array<std::uint32_t, kBlocks> c0, c1, c2, c3;
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    c0[b] = block_ + b;
    c1[b] = lane_;
    c2[b] = static_cast<std::uint32_t>(index_);
    c3[b] = static_cast<std::uint32_t>(index_ >> 32);
  }
  std::uint32_t key0 = static_cast<std::uint32_t>(seed_);
  std::uint32_t key1 = static_cast<std::uint32_t>(seed_ >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t b = 0; b < kBlocks; ++b) {
      const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * c0[b];
      const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * c2[b];
      c0[b] = static_cast<std::uint32_t>(product1 >> 32) ^ c1[b] ^ key0;
      c1[b] = static_cast<std::uint32_t>(product1);
      c2[b] = static_cast<std::uint32_t>(product0 >> 32) ^ c3[b] ^ key1;
      c3[b] = static_cast<std::uint32_t>(product0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (std::size_t b = 0; b < kBlocks; ++b) {
    words_[4 * b] = c0[b];
    words_[4 * b + 1] = c1[b];
    words_[4 * b + 2] = c2[b];
    words_[4 * b + 3] = c3[b];
  }
  block_ += kBlocks;
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
