#include "shellgame/kernels/delta_rule.h"

#include "shellgame/kernels/delta_forms.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

bool chunked(const DeltaSizes& sizes, const DeltaRuleInput<float>& input, DeltaForm form) {
  const bool possible = !input.gk && !input.gv;
  if (form == DeltaForm::kChunked && !possible)
    wrong_use("The chunked delta rule must have no decays per channel (gk, gv).");
  if (form != DeltaForm::kBest) return form == DeltaForm::kChunked;
  // A single token, as in streaming, would pay for a whole chunk.
  return possible && sizes.T >= 4;
}

void check(const DeltaSizes& sizes, const DeltaRuleInput<float>& input) {
  const auto& [B, T, H, K, V] = sizes;
  if (B == 0 || T == 0 || H == 0 || K == 0 || V == 0)
    wrong_use("The delta rule must have sizes of at least 1, not B={} T={} H={} K={} V={}.", B, T,
              H, K, V);
  if (!input.q || !input.k || !input.v) wrong_use("The delta rule must be given q, k and v.");
}

ChunkShape shape_of(const DeltaSizes& sizes, const DeltaRuleInput<float>& input) {
  return chunk_shape(sizes, input.error_term, static_cast<bool>(input.g));
}

}  // namespace

std::size_t delta_rule_saved_size(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                                  DeltaForm form) {
  check(sizes, input);
  const std::size_t segment =
      chunked(sizes, input, form) ? shape_of(sizes, input).segment() : recurrent_segment(sizes);
  // The first segment begins with h0.
  return sizes.B * sizes.H * ((sizes.T - 1) / segment) * sizes.K * sizes.V;
}

void delta_rule_forward(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                        const DeltaRuleOutput<float>& output, float* saved, DeltaForm form) {
  check(sizes, input);
  if (!output.o) wrong_use("The delta rule's forward must be given a place for o.");
  if (chunked(sizes, input, form))
    delta_rule_forward_chunked(shape_of(sizes, input), sizes, input, output, saved);
  else
    delta_rule_forward_recurrent(sizes, input, output, saved);
}

void delta_rule_backward(const DeltaSizes& sizes, const DeltaRuleInput<float>& input,
                         const float* saved, const DeltaRuleGradients<float>& gradients,
                         DeltaForm form) {
  if (!saved && delta_rule_saved_size(sizes, input, form) > 0)
    wrong_use("The delta rule's backward must be given what its forward saved.");
  if (chunked(sizes, input, form))
    delta_rule_backward_chunked(shape_of(sizes, input), sizes, input, saved, gradients);
  else
    delta_rule_backward_recurrent(sizes, input, saved, gradients);
}

}  // namespace shellgame
