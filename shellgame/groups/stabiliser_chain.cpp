#include "shellgame/groups/stabiliser_chain.h"

namespace shellgame {
namespace {

// The images of a set of points under p.
unsigned image_of_set(Permutation p, unsigned set) {
  unsigned result = 0;
  for (; set != 0; set &= set - 1) result |= 1u << p(__builtin_ctz(set));
  return result;
}

int nth_member(unsigned set, unsigned n) {
  for (; n > 0; --n) set &= set - 1;
  return __builtin_ctz(set);
}

}  // namespace

StabiliserChain::StabiliserChain(int degree, const std::vector<Permutation>& generators)
    : degree_(degree) {
  for (int i = 0; i < degree_; ++i) levels_[static_cast<std::size_t>(i)].orbit = 1u << i;
  for (const Permutation g : generators)
    if (!contains_from(0, g)) insert(0, g);
  for (int i = degree_ - 1; i >= 0; --i) {
    Level& level = levels_[static_cast<std::size_t>(i)];
    level.below = order_;
    order_ *= static_cast<std::uint64_t>(__builtin_popcount(level.orbit));
  }
}

// Adds g, which fixes the points below `level` and is not yet an element, to the group of the
// level. The level is closed again when every known coset representative times every generator has
// been seen; what such a product adds beyond its own representative belongs to the next level
// (Schreier).
void StabiliserChain::insert(int level, Permutation g) {
  Level& here = levels_[static_cast<std::size_t>(level)];
  here.generators.push_back(g);
  const unsigned known = here.orbit;  // points that join on the way meet all generators in extend()
  for (int b = 0; b < degree_; ++b)
    if ((known >> b) & 1u) extend(level, then(here.to[static_cast<std::size_t>(b)], g));
}

void StabiliserChain::extend(int level, Permutation g) {
  Level& here = levels_[static_cast<std::size_t>(level)];
  const auto b = static_cast<std::size_t>(g(level));
  if (!((here.orbit >> b) & 1u)) {
    here.orbit |= 1u << b;
    here.to[b] = g;
    here.back[b] = g.inverse();
    // The calls add generators to deeper levels only, so that this list stays as it is.
    for (const Permutation s : here.generators) extend(level, then(g, s));
    return;
  }
  const Permutation rest = then(g, here.back[b]);
  if (level + 1 < degree_ && !contains_from(level + 1, rest)) insert(level + 1, rest);
}

bool StabiliserChain::contains_from(int level, Permutation p) const {
  for (int i = level; i < degree_; ++i) {
    const Level& here = levels_[static_cast<std::size_t>(i)];
    const auto b = static_cast<std::size_t>(p(i));
    if (!((here.orbit >> b) & 1u)) return false;
    p = then(p, here.back[b]);
  }
  return p.is_identity();
}

bool StabiliserChain::contains(Permutation p) const {
  return p.moved_points() <= degree_ && contains_from(0, p);
}

// An element is t_k ... t_1 t_0 with t_i of level i, applied from the left. With `prefix` the
// product of the t_j, j < i, the possible images of point i are prefix(orbit of i), and the digit
// of the rank is how many of them are smaller than the image.
std::optional<std::uint64_t> StabiliserChain::rank(Permutation p) const {
  if (p.moved_points() > degree_) return std::nullopt;
  std::uint64_t result = 0;
  Permutation prefix, rest = p;
  for (int i = 0; i < degree_; ++i) {
    const Level& here = levels_[static_cast<std::size_t>(i)];
    const auto b = static_cast<std::size_t>(rest(i));
    if (!((here.orbit >> b) & 1u)) return std::nullopt;
    if (b == static_cast<std::size_t>(i) && here.orbit == 1u << i) continue;
    const unsigned smaller = image_of_set(prefix, here.orbit) & ((1u << p(i)) - 1u);
    result += here.below * static_cast<std::uint64_t>(__builtin_popcount(smaller));
    rest = then(rest, here.back[b]);
    prefix = then(here.to[b], prefix);
  }
  if (!rest.is_identity()) return std::nullopt;
  return result;
}

Permutation StabiliserChain::element(std::uint64_t rank) const {
  Permutation prefix;
  for (int i = 0; i < degree_; ++i) {
    const Level& here = levels_[static_cast<std::size_t>(i)];
    if (here.orbit == 1u << i) continue;
    const auto digit = static_cast<unsigned>(rank / here.below);
    rank %= here.below;
    const int image = nth_member(image_of_set(prefix, here.orbit), digit);
    const auto b = static_cast<std::size_t>(prefix.inverse()(image));
    prefix = then(here.to[b], prefix);
  }
  return prefix;
}

void StabiliserChain::list(int level, Permutation prefix, std::vector<Permutation>& out) const {
  while (level < degree_ && levels_[static_cast<std::size_t>(level)].orbit == 1u << level) ++level;
  if (level == degree_) {
    out.push_back(prefix);
    return;
  }
  const Level& here = levels_[static_cast<std::size_t>(level)];
  const Permutation inverse = prefix.inverse();
  for (unsigned images = image_of_set(prefix, here.orbit); images != 0; images &= images - 1) {
    const auto b = static_cast<std::size_t>(inverse(__builtin_ctz(images)));
    list(level + 1, then(here.to[b], prefix), out);
  }
}

std::vector<Permutation> StabiliserChain::elements() const {
  std::vector<Permutation> out;
  out.reserve(static_cast<std::size_t>(order_));
  list(0, Permutation(), out);
  return out;
}

}  // namespace shellgame
