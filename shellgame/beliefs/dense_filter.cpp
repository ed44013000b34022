#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"
#include "shellgame/beliefs/order_store.h"

namespace shellgame {

void check_tabled(const Automaton& automaton, const std::string& filter) {
  const StateSpace& space = automaton.space();
  if (space.is_orders() && space.degree() > kMostTabled) {
    wrong_use("{} needs at most {} variables, not {}", filter, kMostTabled, space.degree());
  }
}

std::unique_ptr<Filter> make_dense_filter(const Automaton& automaton,
                                          const FilterOptions& options) {
  const StateSpace& space = automaton.space();
  if (space.is_orders() && space.degree() > kMostTabled) {
    // The machine's own numbers, without index tables.
    if (options.precision == Precision::kFp64 && !options.flush)
      return std::make_unique<JointFilter<OrderStore<double>>>(automaton, options);
    if (options.precision == Precision::kFp32 && !options.flush)
      return std::make_unique<JointFilter<OrderStore<float>>>(automaton, options);
    check_tabled(automaton, "a filter in formats other than plain fp64 and fp32");
  }
  return with_number(options.precision, options.flush,
                     [&]<class Number>(std::type_identity<Number>) -> std::unique_ptr<Filter> {
                       return std::make_unique<JointFilter<DenseStore<Number>>>(automaton, options);
                     });
}

}  // namespace shellgame
