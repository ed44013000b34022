// Python's random module, bit for bit: MT19937 seeded as random.seed(int) does, random(),
// getrandbits(), and what sample() needs. Hidden randomness of a trace comes from here, so that
// CPython can replay it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace shellgame {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed) { this->seed(seed); }
  void seed(std::uint64_t seed);

  double random();                               // random.random()
  std::uint32_t getrandbits(int bits);           // random.getrandbits(bits), 1 <= bits <= 32
  std::uint32_t randbelow(std::uint32_t bound);  // random.Random._randbelow(bound), bound >= 1
  // The positions that random.sample(population, k=len(population)) takes, in order.
  std::vector<std::uint32_t> sample_all(std::uint32_t size);

 private:
  static constexpr int kSize = 624;
  std::uint32_t next();
  void twist();
  std::array<std::uint32_t, kSize> state_;
  int used_ = kSize;
};

}  // namespace shellgame
