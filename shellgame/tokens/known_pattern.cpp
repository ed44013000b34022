#include "shellgame/tokens/known_pattern.h"

#include "shellgame/tokens/character_class.h"

namespace shellgame {
namespace {

using Class = CharacterClass;

constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

bool is_space(Class kind) { return kind == Class::kSpace || kind == Class::kNewline; }

// The end of the run of characters of one class.
inline std::size_t run_end(std::string_view text, std::size_t position, Class kind) {
  while (position < text.size()) {
    const ClassifiedCharacter next = classify_at(text, position);
    if (next.kind != kind) break;
    position += next.length;
  }
  return position;
}

// The length of 's, 't, 're, 've, 'm, 'll, 'd at an apostrophe, or 0. Without regard to case, the
// long s (U+017F) counts as an s.
template <bool kAnyCase>
inline std::size_t contraction(std::string_view text, std::size_t begin) {
  const auto letter = [&](std::size_t i) -> unsigned {
    const unsigned byte = begin + i < text.size() ? static_cast<unsigned char>(text[begin + i]) : 0;
    return kAnyCase && byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    case 0xC5:
      return kAnyCase && letter(2) == 0xBF ? 3 : 0;
    default:
      return 0;
  }
}

// \s+(?!\S)|\s+ at a space: the run of spaces, without its last one when something follows that
// may want it. With `newlines`, \s*[\r\n]+ is tried before: up to the last newline of the run.
template <bool kNewlines>
inline std::size_t spaces_end(std::string_view text, std::size_t begin) {
  std::size_t position = begin, last = begin, after_newline = begin;
  while (position < text.size()) {
    const ClassifiedCharacter next = classify_at(text, position);
    if (!is_space(next.kind)) break;
    last = position;
    position += next.length;
    if (next.kind == Class::kNewline) after_newline = position;
  }
  if (kNewlines && after_newline > begin) return after_newline;
  return position == text.size() || last == begin ? position : last;
}

inline std::size_t gpt2_end(std::string_view text, std::size_t begin) {
  ClassifiedCharacter first = classify_at(text, begin);
  if (text[begin] == '\'')
    if (const std::size_t length = contraction<false>(text, begin)) return begin + length;
  std::size_t position = begin + first.length;
  if (is_space(first.kind)) {
    if (text[begin] != ' ' || position == text.size()) return spaces_end<false>(text, begin);
    first = classify_at(text, position);
    if (is_space(first.kind)) return spaces_end<false>(text, begin);
    position += first.length;
  }
  return run_end(text, position, first.kind);
}

template <int kDigits>
inline std::size_t qwen_end(std::string_view text, std::size_t begin) {
  const ClassifiedCharacter first = classify_at(text, begin);
  const std::size_t second = begin + first.length;
  if (first.kind == Class::kLetter) return run_end(text, second, Class::kLetter);
  if (first.kind == Class::kNumber) {
    std::size_t position = second;
    for (int digit = 1; digit < kDigits && position < text.size(); ++digit) {
      const ClassifiedCharacter next = classify_at(text, position);
      if (next.kind != Class::kNumber) break;
      position += next.length;
    }
    return position;
  }
  if (text[begin] == '\'')
    if (const std::size_t length = contraction<true>(text, begin)) return begin + length;
  if (first.kind == Class::kNewline) return spaces_end<true>(text, begin);
  // A space or another sign: one of them may lead a word.
  const ClassifiedCharacter next =
      second < text.size() ? classify_at(text, second) : ClassifiedCharacter{Class::kSpace, 0};
  if (next.kind == Class::kLetter) return run_end(text, second + next.length, Class::kLetter);
  std::size_t others = begin;
  if (first.kind == Class::kOther) {
    others = run_end(text, second, Class::kOther);
  } else if (text[begin] == ' ' && next.kind == Class::kOther) {
    others = run_end(text, second + next.length, Class::kOther);
  }
  if (others > begin) return run_end(text, others, Class::kNewline);
  return spaces_end<true>(text, begin);
}

template <class End>
inline std::size_t cut_with(End end_of, std::string_view text, std::size_t begin,
                            std::uint32_t* ends, std::size_t capacity) {
  std::size_t count = 0;
  for (; count < capacity && begin < text.size(); ++count) {
    begin = end_of(text, begin);
    ends[count] = static_cast<std::uint32_t>(begin);
  }
  return count;
}

}  // namespace

std::string_view regex_of(KnownPattern pattern) {
  switch (pattern) {
    case KnownPattern::kGpt2:
      return kGpt2Regex;
    case KnownPattern::kQwen2:
      return kQwen2Regex;
    case KnownPattern::kLlama3:
      break;
  }
  return kLlama3Regex;
}

std::optional<KnownPattern> known_pattern(std::string_view regex) {
  for (const KnownPattern pattern :
       {KnownPattern::kGpt2, KnownPattern::kQwen2, KnownPattern::kLlama3})
    if (regex == regex_of(pattern)) return pattern;
  return std::nullopt;
}

std::size_t match_end(KnownPattern pattern, std::string_view text, std::size_t begin) {
  std::uint32_t end = 0;
  cut(pattern, text, begin, &end, 1);
  return end;
}

std::size_t cut(KnownPattern pattern, std::string_view text, std::size_t begin, std::uint32_t* ends,
                std::size_t capacity) {
  switch (pattern) {
    case KnownPattern::kGpt2:
      return cut_with(gpt2_end, text, begin, ends, capacity);
    case KnownPattern::kQwen2:
      return cut_with(qwen_end<1>, text, begin, ends, capacity);
    case KnownPattern::kLlama3:
      break;
  }
  return cut_with(qwen_end<3>, text, begin, ends, capacity);
}

}  // namespace shellgame
