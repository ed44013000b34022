// Regular expressions as Hugging Face's library reads them (Oniguruma, Ruby's syntax), matched by
// PCRE2: the pattern is rewritten, and what the two read differently is refused. The steps over a
// whole text are limited, and the memory of a match, so that no pattern hangs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shellgame/tokens/span.h"

namespace shellgame {

// The same pattern for PCRE2 (UTF, UCP, MULTILINE). Throws Error with one sentence for what cannot
// be carried over.
std::string pcre2_pattern(std::string_view oniguruma);

// The steps that all matches in a text may take together. A step is a part of a pattern that is
// tried at a place, or a byte that is gone over, also backwards. Patterns of tokenizers take 1 to
// 10 a byte; those that go over the text again from every place take as many as it has bytes.
class RegexBudget {
 public:
  static constexpr std::uint64_t kStepsOfAByte = 512;
  static constexpr std::uint64_t kStepsOfAnyText = 100'000;

  explicit RegexBudget(std::size_t bytes)
      : bytes_(bytes), most_(kStepsOfAnyText + kStepsOfAByte * bytes) {}
  bool spend(std::uint64_t steps) {  // false if there are not so many left
    spent_ += steps;
    return spent_ <= most_;
  }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t most() const { return most_; }

 private:
  std::size_t bytes_;
  std::uint64_t most_, spent_ = 0;
};

class Regex {
 public:
  // Throws Error when the pattern is not understood.
  explicit Regex(std::string_view oniguruma);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) = delete;
  // The first match at or after `from` in valid UTF-8. Throws Error when it would take more than
  // the budget has left.
  std::optional<Span> find(std::string_view text, std::size_t from, RegexBudget& budget) const;
  // With the budget of this text alone.
  std::optional<Span> find(std::string_view text, std::size_t from) const {
    RegexBudget budget(text.size());
    return find(text, from, budget);
  }

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace shellgame
