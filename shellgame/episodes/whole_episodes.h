// The first episodes of a source, kept whole, with steps and kinds of tokens: what probes read.
// Where a source has no steps, a token's kind is not known.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "shellgame/episodes/source.h"

namespace shellgame {

struct WholeEpisode {
  std::vector<std::int64_t> ids;
  std::vector<TokenKind> kinds;
  std::vector<Step> steps;
  std::vector<Question> questions;  // `after` counts tokens of the episode
};

class WholeEpisodes {
 public:
  // Episodes 0, ..., count - 1. Throws UsageError if the source has no steps and they are needed,
  // Error, before any is made, if memory cannot hold them.
  WholeEpisodes(std::unique_ptr<Source> source, std::uint64_t count, bool needs_steps = true);

  const std::vector<WholeEpisode>& all() const { return all_; }
  const Source& source() const { return *source_; }

 private:
  std::unique_ptr<Source> source_;
  std::vector<WholeEpisode> all_;
};

}  // namespace shellgame
