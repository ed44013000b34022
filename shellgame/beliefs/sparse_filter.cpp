#include "shellgame/beliefs/sparse_store.h"

#include "shellgame/beliefs/filters.h"
#include "shellgame/beliefs/joint_filter.h"

namespace shellgame {

std::unique_ptr<Filter> make_sparse_filter(const Automaton& automaton,
                                           const FilterOptions& options) {
  return with_number(options.precision, options.flush,
                     [&]<class Number>(std::type_identity<Number>) -> std::unique_ptr<Filter> {
                       return std::make_unique<JointFilter<SparseStore<Number>>>(automaton,
                                                                                 options);
                     });
}

}  // namespace shellgame
