#include "shellgame/replay/sources.h"

#include <algorithm>
#include <charconv>

#include "shellgame/programs/parse.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// A table that grows over these is emptied: a thousand traces of a large group fill it.
constexpr std::size_t kMostSources = 1 << 16;
constexpr std::size_t kMostSourceBytes = 64u << 20;
constexpr std::uint32_t kMostLoads = 1000000;
// A longer source, or deeper conditions, might be more than CPython's compiler takes; our longest
// line, a print of 4,096 variables, has 60 KB.
constexpr std::size_t kMostPlainBytes = 128 << 10;
constexpr std::size_t kMostConditions = 100;

bool is_digit_or_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

// The greatest n of the words LOAD_n, up to nine digits.
std::uint32_t loads_in(std::string_view source) {
  constexpr std::string_view kWord = "LOAD_";
  std::uint32_t most = 0;
  for (std::size_t at = 0; (at = source.find(kWord, at)) != std::string_view::npos;) {
    const bool begins = at == 0 || !is_digit_or_letter(source[at - 1]);
    at += kWord.size();
    std::uint32_t number = 0;
    const auto [end, error] =
        std::from_chars(source.data() + at, source.data() + source.size(), number);
    const bool ends = end == source.data() + source.size() || !is_digit_or_letter(*end);
    if (begins && ends && error == std::errc() && end - (source.data() + at) <= 9) {
      most = std::max(most, number);
    }
  }
  return std::min(most, kMostLoads);
}

// Printable ASCII in lines: no byte that Python, doctest and our parser might take for the end of a
// line or for blank space in different ways (Python ends lines at a carriage return, even in a
// comment).
bool is_plain_ascii(std::string_view text) {
  bool plain = true;  // no way out of the loop, so that it works on vectors
  for (const char c : text) plain &= (c >= ' ' && c <= '~') || c == '\n';
  return plain;
}

// What the parser takes but an interpreter that is shared had better not: comments, which the
// parser passes over, names with two underscores, which Python gives a meaning (__builtins__), and
// excesses.
bool is_modest(std::string_view source) {
  return source.size() <= kMostPlainBytes && source.find('#') == std::string_view::npos &&
         source.find("__") == std::string_view::npos && count_of("if", source) <= kMostConditions;
}

bool parses(std::string_view text) {
  try {
    parse(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

KnownTrace SourceTable::know(const CutText& cut) {
  const std::vector<ReplayExample>& examples = cut.examples();
  if (known_.size() + examples.size() > kMostSources || bytes_ > kMostSourceBytes) {
    known_.clear();
    bytes_ = 0;
    ++generation_;
  }
  KnownTrace trace;
  trace.generation = generation_;
  trace.sources.reserve(examples.size());
  here_.clear();
  bool all_plain = !examples.empty();
  for (const ReplayExample& example : examples) {
    auto found = known_.find(example.source);
    if (found == known_.end()) {
      const auto number = static_cast<std::uint32_t>(known_.size());
      found =
          known_
              .emplace(std::string(example.source), Known{number, loads_in(example.source), false})
              .first;
      bytes_ += example.source.size();
    }
    Known& known = found->second;
    trace.sources.push_back(known.number);
    trace.loads = std::max(trace.loads, known.loads);
    all_plain = all_plain && known.plain;
    here_.push_back(&known);
  }
  if (examples.empty() || !is_plain_ascii(cut.text())) return trace;
  if (!all_plain) {
    // A source is safe wherever it stands: what the parser refuses in one context and not in
    // another is what would make no sense, such as a variable without a value.
    all_plain = std::ranges::all_of(examples, [](const auto& e) { return is_modest(e.source); }) &&
                parses(cut.text());
    if (all_plain) {
      for (Known* known : here_) known->plain = true;
    }
  }
  trace.plain = all_plain;
  return trace;
}

}  // namespace shellgame
