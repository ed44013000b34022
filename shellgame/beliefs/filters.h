// The makers of each kind of filter, one translation unit each: they instantiate the templates for
// all number formats. make_filter() in filter.h chooses among them.
#pragma once

#include "shellgame/beliefs/dense_store.h"
#include "shellgame/beliefs/filter.h"

namespace shellgame {

// Index tables of all n! orders are kept up to here.
inline constexpr std::size_t kMostTabled = 8;

std::unique_ptr<Filter> make_dense_filter(const Automaton& automaton, const FilterOptions& options);
std::unique_ptr<Filter> make_log_filter(const Automaton& automaton, const FilterOptions& options);
std::unique_ptr<Filter> make_rational_filter(const Automaton& automaton,
                                             const FilterOptions& options);
std::unique_ptr<Filter> make_sparse_filter(const Automaton& automaton,
                                           const FilterOptions& options);
std::unique_ptr<Filter> make_marginal_filter(const Automaton& automaton,
                                             const FilterOptions& options);

// Throws UsageError unless all states of the automaton fit a table.
void check_tabled(const Automaton& automaton, const std::string& filter);

}  // namespace shellgame
