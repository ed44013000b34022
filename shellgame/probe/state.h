// `shellgame probe state`: where the state is. Two questions of every head: can the true state and
// the exact belief be read from what it remembers by a linear map (on traces that were not fitted)?
// And does the model answer as another trace would, when the head is given what it remembers of
// that trace (a transplant)?
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "shellgame/probe/heads.h"

namespace shellgame {

// `count` commands (counted from 0), evenly spread over a trace of so many; never the last one,
// after which a trace may end.
std::vector<std::size_t> spread_commands(std::size_t commands, std::size_t count);

// Reads the traces and calls `see` with what the model remembers after each of `commands` (rising):
// states of the traces `rows` side by side. Traces whose commands stand at the same tokens go
// together.
using SeeState = std::function<void(const std::vector<std::size_t>& rows, std::size_t place,
                                    const ModelState& state)>;
void walk_states(const Model& model, const std::vector<WholeEpisode>& traces,
                 const std::vector<std::size_t>& commands, const SeeState& see);

struct Readout {
  HeadPlace place;
  double accuracy = 0;              // of the true value of each variable, held-out traces
  double exact = 0;                 // of all variables at once
  double explained = 0;             // of the one-hot true state: R2
  std::optional<double> belief;     // R2 of the exact belief, where there is one
  std::int64_t features = 0;        // numbers that the head remembers
  std::int64_t fitted = 0, of = 0;  // samples
};
// Of `places` commands of each trace; three quarters of the traces are fitted. Throws UsageError if
// there are fewer than 4 traces.
std::vector<Readout> read_states(const Model& model, const WholeEpisodes& traces,
                                 const std::vector<HeadPlace>& heads, std::size_t places);

// {"chance", "bayes_accuracy" (of the most probable value; null where beliefs are not known),
// "heads": [{layer, head, accuracy, exact, explained, belief,
// follows, stays, questions, features, fitted, of}]}. Throws UsageError if no layer has a state of
// one size.
nlohmann::ordered_json probe_state(const Model& model, const WholeEpisodes& traces,
                                   std::size_t places);

// The heads that remember something of one size. Throws UsageError if there is none.
std::vector<HeadPlace> heads_with_state(const std::vector<LayerHeads>& layers);

}  // namespace shellgame
