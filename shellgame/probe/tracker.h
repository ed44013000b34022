// `shellgame probe find-tracker`: the head whose state holds the values, with its evidence, or
// none. A head is the tracker if the model follows the state at all, if moving this head's state
// from another trace moves the model's answers with it, and if the model fails without it: with its
// output gone, and (where the head has a beta and commands are certain) with beta's range halved,
// so that no step of it can reflect. A head whose betas are all at most 1 is none.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "shellgame/probe/heads.h"

namespace shellgame {

// What must be passed; shares of what is known beyond chance.
inline constexpr double kLeastKnown = 0.5;    // accuracy of the model, between chance and Bayes
inline constexpr double kLeastFollows = 0.5;  // answers that follow a transplant
inline constexpr double kLeastLost = 0.25;    // of the accuracy beyond chance, by an intervention

struct TrackerOptions {
  std::size_t places = 12;           // commands of each trace whose states are read
  std::size_t transplanted = 16;     // heads, by their readout
  std::size_t confirmed = 4;         // heads, by their transplants, that are intervened on
  std::uint64_t judged = 16;         // traces of each intervention
  std::uint64_t looked_at_keys = 4;  // traces
};

// {"tracker": {layer, head, ...evidence} or null, "reason", "accuracy", "chance",
// "bayes_accuracy", "heads": [{layer, head, follows, stays, readout, exact, belief, above_1.9,
// effective_rank, from_own, permutation, ablated, halved}]}, best first. Throws UsageError for
// models whose layers remember nothing of one size.
nlohmann::ordered_json find_tracker(const Model& model, const WholeEpisodes& traces,
                                    const TrackerOptions& options = {});

}  // namespace shellgame
