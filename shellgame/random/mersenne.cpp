#include "shellgame/random/mersenne.h"

#include <bit>

namespace shellgame {

void PythonRandom::seed(std::uint64_t seed) {
  // random.seed(int) gives the absolute value's 32-bit digits to init_by_array; zero has one digit.
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed),
                                         static_cast<std::uint32_t>(seed >> 32)};
  const std::uint32_t length = key[1] != 0 ? 2 : 1;
  state_[0] = 19650218u;
  for (std::uint32_t i = 1; i < kSize; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  std::size_t i = 1;
  std::uint32_t j = 0;
  for (int k = 0; k < kSize; ++k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + j;
    if (++i >= kSize) {
      state_[0] = state_[kSize - 1];
      i = 1;
    }
    if (++j >= length) j = 0;
  }
  for (int k = 0; k < kSize - 1; ++k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) -
                static_cast<std::uint32_t>(i);
    if (++i >= kSize) {
      state_[0] = state_[kSize - 1];
      i = 1;
    }
  }
  state_[0] = 0x80000000u;
  used_ = kSize;
}

void PythonRandom::twist() {
  const auto mix = [](std::uint32_t upper, std::uint32_t lower) {
    const std::uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return (y >> 1) ^ ((y & 1u) != 0 ? 0x9908b0dfu : 0u);
  };
  constexpr std::size_t kMiddle = 397, kEnd = kSize;
  std::size_t i = 0;
  for (; i < kEnd - kMiddle; ++i) state_[i] = state_[i + kMiddle] ^ mix(state_[i], state_[i + 1]);
  for (; i < kEnd - 1; ++i) state_[i] = state_[i + kMiddle - kEnd] ^ mix(state_[i], state_[i + 1]);
  state_[kEnd - 1] = state_[kMiddle - 1] ^ mix(state_[kEnd - 1], state_[0]);
  used_ = 0;
}

std::uint32_t PythonRandom::next() {
  if (used_ == kSize) twist();
  std::uint32_t y = state_[static_cast<std::size_t>(used_++)];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

double PythonRandom::random() {
  const std::uint32_t a = next() >> 5, b = next() >> 6;
  return (static_cast<double>(a) * 67108864.0 + static_cast<double>(b)) *
         (1.0 / 9007199254740992.0);
}

std::uint32_t PythonRandom::getrandbits(int bits) { return next() >> (32 - bits); }

std::uint32_t PythonRandom::randbelow(std::uint32_t bound) {
  const int bits = static_cast<int>(std::bit_width(bound));
  std::uint32_t draw = getrandbits(bits);
  while (draw >= bound) draw = getrandbits(bits);
  return draw;
}

std::vector<std::uint32_t> PythonRandom::sample_all(std::uint32_t size) {
  // CPython's sample() with k = n always takes its pool branch: each pick is replaced by the pool's
  // last item.
  std::vector<std::uint32_t> pool(size), taken(size);
  for (std::uint32_t i = 0; i < size; ++i) pool[i] = i;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t j = randbelow(size - i);
    taken[i] = pool[j];
    pool[j] = pool[size - i - 1];
  }
  return taken;
}

}  // namespace shellgame
