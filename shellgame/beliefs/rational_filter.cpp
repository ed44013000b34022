#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"

namespace shellgame {

std::unique_ptr<Filter> make_rational_filter(const Automaton& automaton,
                                             const FilterOptions& options) {
  check_tabled(automaton, "the rational filter");
  return std::make_unique<JointFilter<DenseStore<Rational>>>(automaton, options);
}

}  // namespace shellgame
