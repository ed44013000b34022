// Traces as token ids, straight from the program where the tokenizer allows it (lines are then
// copied from a table), through the text where it does not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shellgame/programs/line_cache.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/traces/trace.h"

namespace shellgame {

struct TokenTrace {
  Buffer<std::uint32_t> ids;
  std::vector<RevealMark> reveals;  // places in tokens
  Trace trace;                      // its program is the trace's; the rest is scratch
};

class TokenMaker {
 public:
  // Both must outlive the maker.
  TokenMaker(const Sampler& sampler, const Tokenizer& tokenizer);

  const Sampler& sampler() const { return text_.sampler(); }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  // The lines as ids, or null with a tokenizer whose lines depend on each other.
  const LineCache<std::uint32_t>* lines() const { return lines_ ? &*lines_ : nullptr; }
  // Overwrites `out`, using its memory again. Safe from several threads, each with its own `out`.
  void make(std::uint64_t seed, std::uint64_t index, TokenTrace& out, bool with_reveals) const;

 private:
  const Tokenizer& tokenizer_;
  TraceMaker text_;
  std::optional<LineCache<std::uint32_t>> lines_;
};

}  // namespace shellgame
