// Pre-tokenizers of a tokenizer.json: they cut a text into the pieces that merges do not cross.
// Split and Digits in any number and order, then ByteLevel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/tokens/known_pattern.h"
#include "shellgame/tokens/regex.h"

namespace shellgame {

// What becomes of the matches of a Split; the names are the library's.
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

// What a Split looks for.
class PieceMatcher {
 public:
  virtual ~PieceMatcher() = default;
  // The first match at or after `from`; may be empty. Throws Error when it would take more than the
  // budget has left.
  virtual std::optional<Span> find(std::string_view text, std::size_t from,
                                   RegexBudget& budget) const = 0;
};

std::unique_ptr<PieceMatcher> match_regex(std::string_view oniguruma);  // throws Error
std::unique_ptr<PieceMatcher> match_known(KnownPattern pattern);
std::unique_ptr<PieceMatcher> match_literal(std::string text);
std::unique_ptr<PieceMatcher> match_number();  // one character of \p{N}

struct SplitStep {
  std::unique_ptr<PieceMatcher> matcher;
  SplitBehavior behavior;
  bool invert;  // what is between matches takes their part, and they take its

  // The pieces of `text`, in order; none is empty.
  std::vector<Span> split(std::string_view text, RegexBudget& budget) const;
};

// Pieces that touch: the first begins at `begin`, piece i ends at ends[i], where the next begins.
struct PieceRun {
  std::string_view text;
  std::size_t begin;
  std::size_t base;  // where `text` begins in the whole
  bool prefixed;     // `text` begins with a space that the whole does not have
  const std::uint32_t* ends;
  std::size_t count;

  // Where a byte of `text` stands in the whole; the added space stands where the piece begins.
  std::size_t place_of(std::size_t position) const {
    return base + position - (prefixed && position > 0 ? 1 : 0);
  }
};

class PreTokenizer {
 public:
  // `last` cuts what the steps leave, without gaps; absent, their pieces are final.
  PreTokenizer(std::vector<SplitStep> steps, bool add_prefix_space,
               std::optional<KnownPattern> last)
      : steps_(std::move(steps)), add_prefix_space_(add_prefix_space), last_(last) {}

  // Calls `take` with all pieces of a text (valid UTF-8, under 4 GiB), in order.
  void cut(std::string_view text, const std::function<void(const PieceRun&)>& take) const;

 private:
  std::vector<SplitStep> steps_;
  bool add_prefix_space_;
  std::optional<KnownPattern> last_;
};

}  // namespace shellgame
