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

// One tensor that a mixer leaves in its state, and what streams, probes and estimates must know of
// it, since they know no mixer by name.
struct Remembered {
  enum class Kind {
    kState,     // the recurrent state or a part of it: [B, H, ...], or [B, ...] where H = 1
    kInputs,    // the last inputs of a convolution [B, n * H * X, W]: head h has [:, h, :]
    kTokens,    // an entry a token [B, T, ...], of the last `most` tokens or of all
    kPosition,  // a number without axes that all rows share: they must begin together
    kShared,    // anything else of one size [B, ...], which all heads read
  };
  std::string name;
  Kind kind = Kind::kState;
  std::int64_t heads = 1;  // H of kState and kInputs; 1: not cut into heads
  std::int64_t steps = 1;  // n of kInputs
  std::int64_t most = 0;   // of kTokens; 0: all, and memory grows with every token
  // What it is before the first token, for one row (without B); undefined: zeros. It may be a
  // parameter, through which gradients then flow.
  at::Tensor begin = {};
};

// What a mixer says about itself. check_mixer_contract holds it against what forward() leaves.
struct MixerDeclaration {
  std::int64_t heads = 1;  // of the tap "output"; 1 for a mixer without heads
  std::vector<Remembered> remembers = {};
  // The taps "k" [B, T * n, H or fewer, K] and "beta" [B, T * n, H] are n steps a token of the
  // delta rule, each of which multiplies the state by I - beta k k^T from the left.
  bool delta_steps = false;
  // The tap with the logarithm of a decay that acts on the state before a token's first such step:
  // [B, T, H] or [B, T, H, K]. Empty: there is none.
  std::string decay_tap = {};

  // Whether what is remembered stays of one size however many tokens are read.
  bool constant_memory() const;
  // Whether each row of a batch can begin anew without the others.
  bool rows_are_apart() const;
  bool has(Remembered::Kind kind) const;
};

class Mixer {
 public:
  virtual ~Mixer() = default;

  // Reads the normed stream [B, T, D] and returns the stream with the mixer's output added.
  // `state`, where given, holds what was remembered before the first token (empty: nothing) and is
  // replaced by what is remembered after the last; gradients flow through both.
  virtual at::Tensor forward(const Stream& stream, PartState* state, Pass& pass) const = 0;
  // Heads, and what forward() leaves in its state: all of it, by name.
  virtual MixerDeclaration declaration() const = 0;
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
  std::function<std::unique_ptr<Mixer>(const Options&, const MixerPlace&, const Weights&)> make;
};

// Throws UsageError if the name is taken.
void register_mixer(MixerEntry entry);
// Throws UsageError, naming the nearest one, if there is none of that name.
const MixerEntry& find_mixer(const std::string& name);
std::vector<std::string> mixer_names();

}  // namespace shellgame
