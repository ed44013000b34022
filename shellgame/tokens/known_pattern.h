// Hand-made matchers for the Split patterns that nearly every byte-level tokenizer has: pieces are
// two or three bytes long, and a call of a regular-expression engine for each would cost more than
// all the rest. Each pattern matches at every place, so its matches cover a text without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shellgame {

enum class KnownPattern {
  kGpt2,    // GPT-2's, also the one inside of the ByteLevel pre-tokenizer
  kQwen2,   // Qwen2's and Qwen3's: every digit alone
  kLlama3,  // Llama 3's and cl100k's: up to three digits together
};

// The pattern with exactly this text, if it is known.
std::optional<KnownPattern> known_pattern(std::string_view regex);
// The text of a known pattern.
std::string_view regex_of(KnownPattern pattern);

// The end of the match that begins at `begin`, which is before the end of `text` (valid UTF-8).
std::size_t match_end(KnownPattern pattern, std::string_view text, std::size_t begin);

// Writes the ends of the next matches, at most `capacity` of them, and returns how many; fewer than
// `capacity` means that the end of the text is reached. The text must be shorter than 4 GiB.
std::size_t cut(KnownPattern pattern, std::string_view text, std::size_t begin, std::uint32_t* ends,
                std::size_t capacity);

}  // namespace shellgame
