// Regular expressions as Hugging Face's library reads them (Oniguruma, Ruby's syntax), matched by
// PCRE2: the pattern is rewritten, and what the two read differently is refused. Steps and memory
// of a match are limited, so that no pattern hangs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shellgame/tokens/span.h"

namespace shellgame {

// The same pattern for PCRE2 (UTF, UCP, MULTILINE). Throws Error with one sentence for what cannot
// be carried over.
std::string pcre2_pattern(std::string_view oniguruma);

class Regex {
 public:
  // Throws Error when the pattern is not understood.
  explicit Regex(std::string_view oniguruma);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) = delete;
  // The first match at or after `from` in valid UTF-8. Throws Error when it would take too long.
  std::optional<Span> find(std::string_view text, std::size_t from) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace shellgame
