// The forms behind delta_rule.h, without its checks and its choice; for it, tests and measurements.
#pragma once

#include <cstddef>

#include "shellgame/kernels/delta_chunk.h"
#include "shellgame/kernels/delta_rule.h"

namespace shellgame {

void delta_rule_forward_chunked(const ChunkShape& shape, const DeltaSizes& sizes,
                                const DeltaRuleInput<float>& input,
                                const DeltaRuleOutput<float>& output, float* saved);
void delta_rule_backward_chunked(const ChunkShape& shape, const DeltaSizes& sizes,
                                 const DeltaRuleInput<float>& input, const float* saved,
                                 const DeltaRuleGradients<float>& gradients);

// States are saved every so many tokens.
std::size_t recurrent_segment(const DeltaSizes& sizes);
void delta_rule_forward_recurrent(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                  const DeltaRuleOutput<float>& output, float* saved);
void delta_rule_backward_recurrent(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                   const float* saved, const DeltaRuleGradients<float>& gradients);

}  // namespace shellgame
