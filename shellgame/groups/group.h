// Finite groups of permutations of at most 16 points, by name or by generators. Orders, membership,
// indices and uniform samples come from a stabiliser chain and need no list of the elements, so
// that they work up to S16. A Group is immutable and cheap to copy; all threads may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/groups/permutation.h"
#include "shellgame/random/philox.h"

namespace shellgame {

struct ConjugacyClass {
  Permutation representative;  // its smallest element
  std::uint64_t size;
};

class Group {
 public:
  // The named groups and their standard generators (points count from 1 here):
  //   S_n: (1 2) and (1 2 ... n)                      all n! permutations
  //   A_n: (1 2 3) and (1 2 ... n), or (2 3 ... n) when n is even: the even permutations
  //   Z_n: (1 2 ... n)                                the n rotations
  //   D_n: (1 2 ... n) and (2 n)(3 n-1)...            the 2n symmetries of the n-gon, n >= 3
  static Group symmetric(int n);
  static Group alternating(int n);
  static Group cyclic(int n);
  static Group dihedral(int n);
  // The direct product: `right` acts on the points after those of `left`.
  static Group direct_product(const Group& left, const Group& right);
  // The group that `generators` generate. The degree is the last point that is moved, unless a
  // larger one is given; the name is the list of generators, "<(1 2), (1 2 3 4)>".
  static Group generated(std::vector<Permutation> generators, std::optional<int> degree = {});

  const std::string& name() const;
  int degree() const;  // it acts on the points 0..degree-1
  std::uint64_t order() const;
  const std::vector<Permutation>& generators() const;

  // Elements are numbered 0..order-1 in the lexicographic order of their lists of images; the
  // identity is 0. So S_n counts by rank, A_n by half the rank, Z_n by the power of its generator,
  // and a product counts the elements of its right factor fastest.
  Permutation element(std::uint64_t index) const;  // throws UsageError unless index < order()
  std::uint64_t index_of(Permutation p) const;     // throws UsageError unless contains(p)
  std::optional<std::uint64_t> find(Permutation p) const;
  bool contains(Permutation p) const;
  // The list of all elements, made at the first call. Throws UsageError above kMaxListed elements.
  const std::vector<Permutation>& elements() const;
  static constexpr std::uint64_t kMaxListed = 50'000'000;

  bool is_subgroup_of(const Group& other) const;
  bool is_abelian() const;
  // In the order of their representatives; {identity} comes first. Limited like elements().
  std::vector<ConjugacyClass> conjugacy_classes() const;

  // A uniform element: the one whose index is stream.below64(order()).
  Permutation sample(RandomStream& stream) const { return element(stream.below64(order())); }

 private:
  struct Data;
  Group(std::string name, int degree, std::vector<Permutation> generators);
  std::shared_ptr<const Data> data_;
};

// "S5", "A5", "Z7", "D4", products "A4xZ5" (or "A4_x_Z5", "S3 x Z2 x Z2"), and groups by generators
// "<(1 2), (1 2 3 4 5)>", which may be factors too. Throws UsageError that names the text, the
// place in it and what is allowed.
Group parse_group(std::string_view text);

// The prime powers whose product is n: Z_n is the product of cyclic groups of these orders, which
// move far fewer points than n (Z60 is Z4xZ3xZ5 on 12).
std::vector<int> prime_power_factors(int n);

}  // namespace shellgame
