// Batches for next-token prediction, filled in place on all cores: the memory belongs to the caller
// (a tensor's, for instance) and is written once. Row b of a batch is trace first_index + b.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shellgame/tokens/token_maker.h"

namespace shellgame {

enum class LossOn { kAllTokens, kReveals };

// Targets without loss have this value, as Torch's cross entropy expects it.
inline constexpr std::int64_t kIgnored = -100;

// B rows of T places, one after the other. inputs[t] is token t, targets[t] is token t + 1; past a
// trace's end inputs are `padding` and targets kIgnored. loss_mask[t] is 1 where targets[t] counts.
// Any pointer may be null.
struct BatchView {
  std::size_t rows = 0, width = 0;  // B, T
  std::int64_t* inputs = nullptr;
  std::int64_t* targets = nullptr;
  std::uint8_t* loss_mask = nullptr;
};

// A token of a revealed value, at the place that predicts it: targets[place] is the token. The
// values of `assert a !=` and `assert a in` are blind questions that nothing predicts, and are left
// out.
struct RevealPlace {
  std::uint32_t row = 0, place = 0;
  std::uint64_t command = 0;  // commands executed before the reveal
  VariableId variable = 0;
  ValueId value = 0;
  friend bool operator==(const RevealPlace&, const RevealPlace&) = default;
};

struct BatchReport {
  std::size_t tokens = 0;            // of all traces, without padding
  std::size_t longest = 0;           // trace, in tokens
  std::vector<RevealPlace> reveals;  // by row, then place
};

// Fills the view. Throws UsageError if a trace does not fit its row.
BatchReport fill_batch(const TokenMaker& maker, std::uint64_t seed, std::uint64_t first_index,
                       LossOn loss, std::int64_t padding, const BatchView& view);

}  // namespace shellgame
