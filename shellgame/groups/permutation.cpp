#include "shellgame/groups/permutation.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "shellgame/text/error.h"

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

namespace shellgame {
namespace {

// Where the image of a point lies in the word.
constexpr int place(int point) { return 60 - 4 * point; }

void check_degree(int n) {
  if (n < 0 || n > kMaxPoints)
    wrong_use("A permutation must have between 0 and {} points, not {}.", kMaxPoints, n);
}

Permutation pack(const std::array<int, kMaxPoints>& images) {
  std::uint64_t bits = 0;
  for (int i = 0; i < kMaxPoints; ++i)
    bits |= static_cast<std::uint64_t>(images[static_cast<std::size_t>(i)]) << place(i);
  return Permutation::from_bits(bits);
}

std::array<int, kMaxPoints> identity_images() {
  std::array<int, kMaxPoints> images;
  std::iota(images.begin(), images.end(), 0);
  return images;
}

#if defined(__x86_64__)
// The word as 16 bytes is a look-up table, and one byte shuffle composes: measured at 2 to 5 ns
// against 11 ns for the plain twin. In the table point i has the place 15 - i, hence the
// complement.
__attribute__((target("ssse3"))) std::uint64_t then_shuffled(std::uint64_t p, std::uint64_t q) {
  const __m128i low = _mm_set1_epi8(15);
  const __m128i packed_p = _mm_cvtsi64_si128(static_cast<long long>(~p));
  const __m128i packed_q = _mm_cvtsi64_si128(static_cast<long long>(q));
  const __m128i indices =
      _mm_and_si128(_mm_unpacklo_epi8(packed_p, _mm_srli_epi64(packed_p, 4)), low);
  const __m128i table =
      _mm_and_si128(_mm_unpacklo_epi8(packed_q, _mm_srli_epi64(packed_q, 4)), low);
  const __m128i images = _mm_shuffle_epi8(table, indices);
  const __m128i bytes = _mm_maddubs_epi16(images, _mm_set1_epi16(0x1001));  // low + 16 * high
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(bytes, bytes)));
}
const bool has_shuffle = __builtin_cpu_supports("ssse3") != 0;
#endif

}  // namespace

Permutation then_plain(Permutation p, Permutation q) {
  std::uint64_t bits = 0;
  for (int i = 0; i < kMaxPoints; ++i)
    bits |= static_cast<std::uint64_t>(q.image(p.image(i))) << place(i);
  return Permutation::from_bits(bits);
}

Permutation then(Permutation p, Permutation q) {
#if defined(__x86_64__)
  if (has_shuffle) return Permutation::from_bits(then_shuffled(p.bits(), q.bits()));
#endif
  return then_plain(p, q);
}

std::uint64_t factorial(int n) {
  check_degree(n);
  std::uint64_t result = 1;
  for (int i = 2; i <= n; ++i) result *= static_cast<std::uint64_t>(i);
  return result;
}

Permutation Permutation::from_images(std::span<const int> images) {
  if (images.size() > kMaxPoints)
    wrong_use("A permutation must have at most {} points, not {}.", kMaxPoints, images.size());
  std::array<int, kMaxPoints> all = identity_images();
  unsigned seen = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const int image = images[i];
    if (image < 0 || static_cast<std::size_t>(image) >= images.size())
      wrong_use("The images of {} points must lie between 0 and {}, but point {} has {}.",
                images.size(), images.size() - 1, i, image);
    if ((seen >> image) & 1u)
      wrong_use("The images of a permutation must differ, but {} occurs twice.", image);
    seen |= 1u << image;
    all[i] = image;
  }
  return pack(all);
}

Permutation Permutation::unrank(int n, std::uint64_t rank) {
  if (rank >= factorial(n))
    wrong_use("The rank of a permutation of {} points must be below {}, not {}.", n, factorial(n),
              rank);
  std::array<int, kMaxPoints> images = identity_images();
  std::uint64_t rest = rank;
  for (int i = 0; i < n; ++i) {
    const std::uint64_t block = factorial(n - 1 - i);
    const auto pick = images.begin() + i + static_cast<std::ptrdiff_t>(rest / block);
    rest %= block;
    std::rotate(images.begin() + i, pick, pick + 1);  // the points left over stay in order
  }
  return pack(images);
}

std::uint64_t Permutation::rank(int n) const {
  check_degree(n);
  if (moved_points() > n)
    wrong_use("The permutation {} moves the point {}, so it has no rank among {} points.",
              to_cycles(), moved_points(), n);
  std::uint64_t result = 0;
  unsigned left = 0xFFFFu;  // images that have not occurred
  for (int i = 0; i < n; ++i) {
    const int b = image(i);
    const int smaller = __builtin_popcount(left & ((1u << b) - 1u));
    result = result * static_cast<std::uint64_t>(n - i) + static_cast<std::uint64_t>(smaller);
    left &= ~(1u << b);
  }
  return result;
}

int Permutation::moved_points() const {
  const std::uint64_t difference = bits_ ^ kIdentity;
  return difference == 0 ? 0 : kMaxPoints - __builtin_ctzll(difference) / 4;
}

Permutation Permutation::inverse() const {
  std::uint64_t bits = 0;
  for (int i = 0; i < kMaxPoints; ++i) bits |= static_cast<std::uint64_t>(i) << place(image(i));
  return Permutation(bits);
}

Permutation Permutation::power(std::int64_t exponent) const {
  const std::int64_t period = order();
  std::int64_t left = ((exponent % period) + period) % period;
  Permutation result, square = *this;
  for (; left > 0; left >>= 1) {
    if (left & 1) result = then(result, square);
    square = then(square, square);
  }
  return result;
}

std::vector<std::vector<int>> Permutation::cycles() const {
  std::vector<std::vector<int>> result;
  unsigned seen = 0;
  for (int start = 0; start < kMaxPoints; ++start) {
    if (((seen >> start) & 1u) || image(start) == start) continue;
    std::vector<int> cycle;
    for (int x = start; !((seen >> x) & 1u); x = image(x)) {
      seen |= 1u << x;
      cycle.push_back(x);
    }
    result.push_back(std::move(cycle));
  }
  return result;
}

std::vector<int> Permutation::cycle_type(int n) const {
  check_degree(n);
  if (moved_points() > n)
    wrong_use("The permutation {} moves the point {}, so it has no cycle type on {} points.",
              to_cycles(), moved_points(), n);
  std::vector<int> lengths;
  int moved = 0;
  for (const auto& cycle : cycles()) {
    lengths.push_back(static_cast<int>(cycle.size()));
    moved += lengths.back();
  }
  lengths.insert(lengths.end(), static_cast<std::size_t>(n - moved), 1);
  std::sort(lengths.rbegin(), lengths.rend());
  return lengths;
}

bool Permutation::is_even() const {
  std::size_t transpositions = 0;
  for (const auto& cycle : cycles()) transpositions += cycle.size() - 1;
  return transpositions % 2 == 0;
}

int Permutation::order() const {
  int result = 1;
  for (const auto& cycle : cycles()) result = std::lcm(result, static_cast<int>(cycle.size()));
  return result;
}

std::vector<int> Permutation::images(int n) const {
  check_degree(n);
  std::vector<int> result;
  for (int i = 0; i < n; ++i) result.push_back(image(i));
  return result;
}

Permutation Permutation::shifted(int offset) const {
  if (offset < 0 || moved_points() + offset > kMaxPoints)
    wrong_use("The permutation {} cannot be moved up by {} points: there are only {}.", to_cycles(),
              offset, kMaxPoints);
  std::array<int, kMaxPoints> all = identity_images();
  for (int i = 0; i + offset < kMaxPoints; ++i)
    if (image(i) != i) all[static_cast<std::size_t>(i + offset)] = image(i) + offset;
  return pack(all);
}

Permutation assignment(std::span<const int> targets, std::span<const int> sources) {
  if (targets.size() != sources.size())
    wrong_use("An assignment must have as many sources as targets, not {} and {}.", sources.size(),
              targets.size());
  std::array<int, kMaxPoints> all = identity_images();
  unsigned set = 0, read = 0;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    for (const int variable : {targets[k], sources[k]})
      if (variable < 0 || variable >= kMaxPoints)
        wrong_use("A variable of an assignment must be between 0 and {}, not {}.", kMaxPoints - 1,
                  variable);
    set |= 1u << targets[k];
    read |= 1u << sources[k];
    all[static_cast<std::size_t>(targets[k])] = sources[k];
  }
  if (set != read || static_cast<std::size_t>(__builtin_popcount(set)) != targets.size())
    wrong_use(
        "An assignment that permutes must have the same variables, once each, on both sides.");
  return pack(all);
}

std::string_view to_string(Multiplication side) {
  return side == Multiplication::kRight ? "right" : "left";
}

Multiplication parse_multiplication(std::string_view text) {
  if (text == "right") return Multiplication::kRight;
  if (text == "left") return Multiplication::kLeft;
  wrong_use("A multiplication must be \"right\" or \"left\", not \"{}\".", text);
}

}  // namespace shellgame
