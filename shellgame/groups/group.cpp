#include "shellgame/groups/group.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "shellgame/groups/stabiliser_chain.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kMaxGenerators = 256;
// Groups up to this order (S7) are listed at once: 40 kB make element() and sample() a look-up.
constexpr std::uint64_t kAlwaysListed = 5040;

// The cycle first, first+1, ..., last (counted from 0).
Permutation long_cycle(int first, int last) {
  std::vector<int> images;
  for (int i = 0; i <= last; ++i) images.push_back(i < first ? i : (i < last ? i + 1 : first));
  return Permutation::from_images(images);
}

void check_points(std::string_view family, int n, int least) {
  if (n < least || n > kMaxPoints)
    wrong_use("A group {}n must have n between {} and {}, not {}.", family, least, kMaxPoints, n);
}

}  // namespace

struct Group::Data {
  Data(std::string its_name, int its_degree, std::vector<Permutation> its_generators)
      : name(std::move(its_name)),
        degree(its_degree),
        generators(std::move(its_generators)),
        chain(degree, generators) {
    if (chain.order() <= kAlwaysListed) list();
  }
  void list() const {
    std::call_once(listed, [this] { elements = chain.elements(); });
  }

  std::string name;
  int degree;
  std::vector<Permutation> generators;
  StabiliserChain chain;
  mutable std::once_flag listed;
  mutable std::vector<Permutation> elements;
};

Group::Group(std::string name, int degree, std::vector<Permutation> generators)
    : data_(std::make_shared<const Data>(std::move(name), degree, std::move(generators))) {}

Group Group::symmetric(int n) {
  check_points("S", n, 1);
  std::vector<Permutation> generators;
  if (n >= 2) generators.push_back(long_cycle(0, 1));
  if (n >= 3) generators.push_back(long_cycle(0, n - 1));
  return Group(fmt::format("S{}", n), n, std::move(generators));
}

Group Group::alternating(int n) {
  check_points("A", n, 1);
  std::vector<Permutation> generators;
  if (n >= 3) generators.push_back(long_cycle(0, 2));
  if (n >= 4) generators.push_back(long_cycle(n % 2 == 0 ? 1 : 0, n - 1));
  return Group(fmt::format("A{}", n), n, std::move(generators));
}

Group Group::cyclic(int n) {
  check_points("Z", n, 1);
  std::vector<Permutation> generators;
  if (n >= 2) generators.push_back(long_cycle(0, n - 1));
  return Group(fmt::format("Z{}", n), n, std::move(generators));
}

Group Group::dihedral(int n) {
  check_points("D", n, 3);  // below, the n-gon has more symmetries than its corners can show
  std::vector<int> reflection;
  for (int i = 0; i < n; ++i) reflection.push_back((n - i) % n);
  return Group(fmt::format("D{}", n), n,
               {long_cycle(0, n - 1), Permutation::from_images(reflection)});
}

Group Group::direct_product(const Group& left, const Group& right) {
  const int degree = left.degree() + right.degree();
  if (degree > kMaxPoints)
    wrong_use("The product {}x{} would act on {} points; a group must have at most {}.",
              left.name(), right.name(), degree, kMaxPoints);
  std::vector<Permutation> generators = left.generators();
  for (const Permutation g : right.generators()) generators.push_back(g.shifted(left.degree()));
  return Group(left.name() + "x" + right.name(), degree, std::move(generators));
}

Group Group::generated(std::vector<Permutation> generators, std::optional<int> degree) {
  if (generators.size() > kMaxGenerators)
    wrong_use("A group must have at most {} generators, not {}.", kMaxGenerators,
              generators.size());
  int moved = 1;
  std::string name;
  for (const Permutation g : generators) {
    moved = std::max(moved, g.moved_points());
    name += fmt::format("{}{}", name.empty() ? "<" : ", ", g.to_cycles());
  }
  if (degree && (*degree < moved || *degree > kMaxPoints))
    wrong_use("The degree of a group that moves point {} must be between {} and {}, not {}.", moved,
              moved, kMaxPoints, *degree);
  name = name.empty() ? "<()>" : name + ">";
  return Group(std::move(name), degree.value_or(moved), std::move(generators));
}

const std::string& Group::name() const { return data_->name; }
int Group::degree() const { return data_->degree; }
std::uint64_t Group::order() const { return data_->chain.order(); }
const std::vector<Permutation>& Group::generators() const { return data_->generators; }

Permutation Group::element(std::uint64_t index) const {
  if (index >= order())
    wrong_use("An element of {} must have an index below {}, not {}.", name(), order(), index);
  if (order() <= kAlwaysListed) return data_->elements[static_cast<std::size_t>(index)];
  return data_->chain.element(index);
}

std::uint64_t Group::index_of(Permutation p) const {
  const std::optional<std::uint64_t> index = find(p);
  if (!index) wrong_use("The permutation {} is not an element of {}.", p.to_cycles(), name());
  return *index;
}

std::optional<std::uint64_t> Group::find(Permutation p) const { return data_->chain.rank(p); }
bool Group::contains(Permutation p) const { return data_->chain.contains(p); }

const std::vector<Permutation>& Group::elements() const {
  if (order() > kMaxListed)
    wrong_use("The group {} has {} elements; only groups of at most {} can be listed.", name(),
              order(), kMaxListed);
  data_->list();
  return data_->elements;
}

bool Group::is_subgroup_of(const Group& other) const {
  return std::all_of(generators().begin(), generators().end(),
                     [&](Permutation g) { return other.contains(g); });
}

bool Group::is_abelian() const {
  for (const Permutation a : generators())
    for (const Permutation b : generators())
      if (then(a, b) != then(b, a)) return false;
  return true;
}

// A class is an orbit under conjugation by the generators.
std::vector<ConjugacyClass> Group::conjugacy_classes() const {
  const std::vector<Permutation>& all = elements();
  std::vector<Permutation> inverses;
  for (const Permutation g : generators()) inverses.push_back(g.inverse());
  std::vector<bool> seen(all.size());
  std::vector<ConjugacyClass> classes;
  std::vector<Permutation> waiting;
  for (std::size_t start = 0; start < all.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    waiting.push_back(all[start]);
    ConjugacyClass found{all[start], 0};
    while (!waiting.empty()) {
      const Permutation x = waiting.back();
      waiting.pop_back();
      ++found.size;
      for (std::size_t i = 0; i < generators().size(); ++i) {
        const Permutation y = then(then(inverses[i], x), generators()[i]);
        const auto index = static_cast<std::size_t>(*find(y));
        if (seen[index]) continue;
        seen[index] = true;
        waiting.push_back(y);
      }
    }
    classes.push_back(found);
  }
  return classes;
}

std::vector<int> prime_power_factors(int n) {
  std::vector<int> factors;
  for (int p = 2; n > 1; ++p) {
    if (p > n / p) {  // what is left is prime
      factors.push_back(n);
      break;
    }
    int power = 1;
    for (; n % p == 0; n /= p) power *= p;
    if (power > 1) factors.push_back(power);
  }
  return factors;
}

}  // namespace shellgame
