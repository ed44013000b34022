// Permutations of up to 16 points, packed in 64 bits: the image of point i is four bits, point 0 in
// the highest ones, so that comparing the words compares the lists of images. A permutation has no
// degree of its own: the points that it does not name are fixed, and a Group carries the degree.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

inline constexpr int kMaxPoints = 16;

class Permutation {
 public:
  constexpr Permutation() = default;  // the identity
  // images[i] is the image of point i; the points after the last are fixed. Throws UsageError
  // unless every point below images.size() occurs once.
  static Permutation from_images(std::span<const int> images);
  // Disjoint cycles over the points 1..16, "(1 2 3)(4 5)" or "(1,2,3)(4,5)"; "()" is the identity.
  // (Text counts points from 1, as the literature does; the interface counts them from 0.)
  static Permutation from_cycles(std::string_view text);
  // The element of rank `rank` in the lexicographic order of all n! permutations of n points.
  static Permutation unrank(int n, std::uint64_t rank);

  // Of a point from 0 to 15: no others have bits here.
  constexpr int image(int point) const {
    return static_cast<int>((bits_ >> (60 - 4 * point)) & 15);
  }
  constexpr int operator()(int point) const { return image(point); }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool is_identity() const { return bits_ == kIdentity; }
  // The smallest n such that all points from n on are fixed; 0 for the identity.
  int moved_points() const;

  Permutation inverse() const;
  Permutation power(std::int64_t exponent) const;  // also negative
  bool is_even() const;
  int sign() const { return is_even() ? 1 : -1; }
  // Cycles of length 2 or more; each starts with its smallest point, and they come in that order.
  std::vector<std::vector<int>> cycles() const;
  // The lengths of all cycles on n points, fixed points included, largest first.
  std::vector<int> cycle_type(int n) const;
  int order() const;
  std::uint64_t rank(int n) const;  // the inverse of unrank
  std::string to_cycles() const;
  std::vector<int> images(int n) const;
  // The same permutation on the points offset, offset+1, ...: how direct products are made.
  Permutation shifted(int offset) const;

  friend constexpr bool operator==(Permutation, Permutation) = default;
  friend constexpr auto operator<=>(Permutation, Permutation) = default;  // lexicographic by images

  static constexpr Permutation from_bits(std::uint64_t bits) { return Permutation(bits); }

 private:
  static constexpr std::uint64_t kIdentity = 0x0123456789ABCDEF;
  explicit constexpr Permutation(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = kIdentity;
};

// First p, then q: the image of x is q(p(x)).
Permutation then(Permutation p, Permutation q);
// p after q: the image of x is p(q(x)). after(p, q) == then(q, p).
inline Permutation after(Permutation p, Permutation q) { return then(q, p); }

// On which side the next element is multiplied to a running product, where a product p q is read as
// a composition of functions, (p q)(x) = p(q(x)):
//   kRight: product(state, next) = state next = after(state, next)  (jopetty/word-problem)
//   kLeft:  product(state, next) = next state = then(state, next)   (ComplexKDA)
enum class Multiplication { kRight, kLeft };
inline Permutation product(Permutation state, Permutation next, Multiplication side) {
  return side == Multiplication::kRight ? after(state, next) : then(state, next);
}
std::string_view to_string(Multiplication side);             // "right" or "left"
Multiplication parse_multiplication(std::string_view text);  // throws UsageError

// A program state is an array value[variable]. The Python statement `t0, t1, ... = s0, s1, ...`
// sets new[t_k] = old[s_k]; its permutation s sends each target to its source, so
//   new[v] = old[s(v)].
// Executing s1 and then s2 gives new[v] = old[s1(s2(v))]: one statement after another is
// kRight, product(s1, s2, kRight). (Whoever follows a value to its new variable instead uses the
// inverses, and for those it is kLeft.)
Permutation assignment(std::span<const int> targets, std::span<const int> sources);
template <class Value>
std::vector<Value> execute(Permutation statement, const std::vector<Value>& state) {
  std::vector<Value> result(state);
  for (std::size_t v = 0; v < state.size() && v < kMaxPoints; ++v)
    result[v] = state.at(static_cast<std::size_t>(statement(static_cast<int>(v))));
  return result;
}

std::uint64_t factorial(int n);  // 0 <= n <= 16

// The plain twin of then(), which is used where the processor lacks a byte shuffle. For tests.
Permutation then_plain(Permutation p, Permutation q);

}  // namespace shellgame

template <>
struct std::hash<shellgame::Permutation> {
  std::size_t operator()(shellgame::Permutation p) const noexcept {
    const std::uint64_t mixed = p.bits() * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};
