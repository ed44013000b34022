// The exact models' recipes and what they share.
#pragma once

#include "shellgame/models/exact.h"
#include "shellgame/models/exact_reader.h"

namespace shellgame {

ExactModel exact_slots(const ExactOptions& options);
ExactModel exact_swaps(const ExactOptions& options);
ExactModel exact_marginal(const ExactOptions& options);
ExactModel exact_conserving(const ExactOptions& options);
ExactModel exact_log(const ExactOptions& options);

// Key directions, one a row. Reflections along the difference of two rows exchange what is stored
// under them, if all rows have one length and all pairs one inner product.
using VectorRows = std::vector<std::vector<double>>;
// Pairs (1, 1), (1, -1): differences have four entries +-1 or one entry 2, so that keys of unit
// length have entries +-1/2 or 1 and reflections are exact in any binary format.
VectorRows paired_rows(int count);
// e_i for n variables and -e_{n+i} for n slots: differences are positive, as SiLU needs them.
VectorRows signed_rows(int variables);
VectorRows unit_rows(int count);
// Corners of a simplex around the origin, in count - 1 dimensions.
VectorRows simplex_rows(int count);

int lexemes();
// SwiGLU widths are multiples of 32.
int rounded_up(std::size_t rules);
// The second layer's first head stores what `values` hold by one column each and gives `answer`.
void write_values(HandWritten& model, const TraceReader& reader, const std::vector<int>& values);

// `left` - `right` along channels.
Terms vector_terms(const std::vector<int>& channels, const std::vector<double>& left,
                   const std::vector<double>& right = {});
// At the `=` of a swap, by exact_swaps.cpp: what holds there, how much that adds up to, and a rule
// that gives (row of i) - (row of j), and `also`, for each pair.
Terms swap_inputs(const TraceReader& reader);
inline constexpr double kSwapInputs = 4;
void add_pairs(std::vector<Rule>& rules, const TraceReader& reader, const std::vector<int>& key,
               const VectorRows& rows, const Terms& also);
// beta -1 at tokens at which nothing ever happens, and at the `=` of an assignment.
void add_still(std::vector<Rule>& rules, const TraceReader& reader, int beta);
// What the form of a swap determines.
void add_swap_form(std::vector<Rule>& rules, const TraceReader& reader);

nlohmann::ordered_json delta_net_config(int width, int intermediate, bool silu,
                                        int heads = kExactHeads);
nlohmann::ordered_json marginal_config(int width, int intermediate, int variables);

}  // namespace shellgame
