#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"

namespace shellgame {

std::unique_ptr<Filter> make_log_filter(const Automaton& automaton, const FilterOptions& options) {
  check_tabled(automaton, "the log filter");
  return with_number(options.precision, options.flush,
                     [&]<class Number>(std::type_identity<Number>) -> std::unique_ptr<Filter> {
                       return std::make_unique<JointFilter<DenseStore<Logarithm<Number>>>>(
                           automaton, options);
                     });
}

}  // namespace shellgame
