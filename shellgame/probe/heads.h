// The heads of a model, and the part of a tap or of a state that belongs to one of them. A mixer
// without heads (LSTM, GRU) counts as one head.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shellgame/episodes/whole_episodes.h"
#include "shellgame/models/model.h"

namespace shellgame {

struct HeadPlace {
  int layer = 0, head = 0;  // both counted from 0
  friend bool operator==(const HeadPlace&, const HeadPlace&) = default;
};

struct LayerHeads {
  std::string mixer;
  int heads = 1;
  bool state = false;  // has a recurrent state
  bool beta = false;   // has one beta a head and step, of the delta rule
  MixerDeclaration declaration;
};

// By layer. Throws Error if the model's logits are no numbers.
std::vector<LayerHeads> heads_of(const Model& model);
// All heads for which `has` is true.
std::vector<HeadPlace> heads_with(const std::vector<LayerHeads>& layers, bool LayerHeads::*has);

// The view of a tap's tensor that belongs to a head. Throws UsageError where the tap is not cut
// into heads.
at::Tensor head_part(const at::Tensor& tap, const std::string& name, int head, int heads);

// The recurrent state of a head, as [B, features]; undefined where the mixer has none.
at::Tensor head_state(const LayerState& state, const MixerDeclaration& mixer, int head);
// Sequence b gets what sequence from[b] remembers: of one head (its state, and the last inputs of
// its short convolutions), or of all layers and heads.
void move_head_state(LayerState& state, const MixerDeclaration& mixer, int head,
                     const at::Tensor& from);
ModelState moved_state(const ModelState& state, const at::Tensor& from);
ModelState copied_state(const ModelState& state);

// What flows through taps while a model reads one trace: by layer and name, [T or T * n, H, ...].
using Recorded = std::vector<std::map<std::string, at::Tensor>>;
Recorded record(const Model& model, const WholeEpisode& trace,
                const std::vector<std::string>& taps);

}  // namespace shellgame
