// A mixer carries information from token to token: the part of a block that differs between
// architectures. A new one is one file: a class derived from Mixer, and an entry (register_mixer)
// by whose name configurations find it. check_mixer_contract in tests/models holds what all
// promise.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/models/options.h"
#include "shellgame/models/pass.h"
#include "shellgame/models/stream.h"
#include "shellgame/models/weights.h"

namespace shellgame {

class Mixer {
 public:
  virtual ~Mixer() = default;

  // Reads the normed stream [B, T, D] and returns the stream with the mixer's output added.
  // `state`, where given, holds what was remembered before the first token (empty: nothing) and is
  // replaced by what is remembered after the last; gradients flow through both.
  virtual at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const = 0;
};

// Where a mixer is put: the settings that all mixers get beside their own options.
struct MixerPlace {
  std::int64_t width = 0;  // D
  int layer = 0;           // counted from 0
  int layers = 1;          // L
  double norm_eps = 1e-6;
};

struct MixerEntry {
  std::string name;
  // Keys and defaults, as in config.json; null where there is none.
  Options::Json defaults;
  // Names that Taps may ask for.
  std::vector<std::string> taps;
  // Whether what is remembered stays of one size however many tokens are read.
  std::function<bool(const Options&)> constant_memory;
  std::function<std::unique_ptr<Mixer>(const Options&, const MixerPlace&, const Weights&)> make;
};

// Throws UsageError if the name is taken.
void register_mixer(MixerEntry entry);
// Throws UsageError, naming the nearest one, if there is none of that name.
const MixerEntry& find_mixer(const std::string& name);
std::vector<std::string> mixer_names();

}  // namespace shellgame
