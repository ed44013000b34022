#include "shellgame/tokens/pre_tokenizer.h"

#include <algorithm>
#include <array>

#include "shellgame/tokens/character_class.h"

namespace shellgame {
namespace {

class RegexMatcher final : public PieceMatcher {
 public:
  explicit RegexMatcher(std::string_view oniguruma) : regex_(oniguruma) {}
  std::optional<Span> find(std::string_view text, std::size_t from,
                           RegexBudget& budget) const override {
    return regex_.find(text, from, budget);
  }

 private:
  Regex regex_;
};

class KnownMatcher final : public PieceMatcher {
 public:
  explicit KnownMatcher(KnownPattern pattern) : pattern_(pattern) {}
  std::optional<Span> find(std::string_view text, std::size_t from, RegexBudget&) const override {
    if (from == text.size()) return std::nullopt;
    return Span{from, match_end(pattern_, text, from)};
  }

 private:
  KnownPattern pattern_;
};

class LiteralMatcher final : public PieceMatcher {
 public:
  explicit LiteralMatcher(std::string text) : text_(std::move(text)) {}
  std::optional<Span> find(std::string_view text, std::size_t from, RegexBudget&) const override {
    const std::size_t begin = text.find(text_, from);
    if (begin == std::string_view::npos) return std::nullopt;
    return Span{begin, begin + text_.size()};
  }

 private:
  std::string text_;
};

class NumberMatcher final : public PieceMatcher {
 public:
  std::optional<Span> find(std::string_view text, std::size_t from, RegexBudget&) const override {
    while (from < text.size()) {
      const ClassifiedCharacter next = classify_at(text, from);
      if (next.kind == CharacterClass::kNumber) return Span{from, from + next.length};
      from += next.length;
    }
    return std::nullopt;
  }
};

struct Part {
  Span span;
  bool matched;
};

// The whole text as matches and what is between them. An empty match right after another match
// does not count: the search goes on one character later.
std::vector<Part> parts_of(std::string_view text, const PieceMatcher& matcher,
                           RegexBudget& budget) {
  std::vector<Part> parts;
  std::size_t from = 0, done = 0;
  std::optional<std::size_t> last_end;
  while (from <= text.size()) {
    const std::optional<Span> match = matcher.find(text, from, budget);
    if (!match) break;
    if (match->begin == match->end && last_end == match->end) {
      from += from < text.size() ? code_point_at(text, from).length : 1;
      continue;
    }
    from = match->end;
    last_end = match->end;
    if (done < match->begin) parts.push_back({{done, match->begin}, false});
    parts.push_back({*match, true});
    done = match->end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, false});
  return parts;
}

}  // namespace

std::unique_ptr<PieceMatcher> match_regex(std::string_view oniguruma) {
  return std::make_unique<RegexMatcher>(oniguruma);
}
std::unique_ptr<PieceMatcher> match_known(KnownPattern pattern) {
  return std::make_unique<KnownMatcher>(pattern);
}
std::unique_ptr<PieceMatcher> match_literal(std::string text) {
  return std::make_unique<LiteralMatcher>(std::move(text));
}
std::unique_ptr<PieceMatcher> match_number() { return std::make_unique<NumberMatcher>(); }

std::vector<Span> SplitStep::split(std::string_view text, RegexBudget& budget) const {
  std::vector<Part> parts = parts_of(text, *matcher, budget);
  if (invert)
    for (Part& part : parts) part.matched = !part.matched;
  const bool backwards = behavior == SplitBehavior::kMergedWithNext;
  if (backwards) std::reverse(parts.begin(), parts.end());

  std::vector<Span> pieces;
  bool previous = false;  // whether the part before was a match; at the border there was none
  for (const Part& part : parts) {
    bool joins = false;
    switch (behavior) {
      case SplitBehavior::kIsolated:
        break;
      case SplitBehavior::kRemoved:
        if (part.matched) continue;
        break;
      case SplitBehavior::kContiguous:
        joins = part.matched == previous;
        break;
      case SplitBehavior::kMergedWithPrevious:
      case SplitBehavior::kMergedWithNext:
        joins = part.matched && !previous;
        break;
    }
    previous = part.matched;
    if (!joins || pieces.empty()) {
      pieces.push_back(part.span);
    } else if (backwards) {
      pieces.back().begin = part.span.begin;
    } else {
      pieces.back().end = part.span.end;
    }
  }
  if (backwards) std::reverse(pieces.begin(), pieces.end());
  std::erase_if(pieces, [](const Span& piece) { return piece.begin == piece.end; });
  return pieces;
}

void PreTokenizer::cut(std::string_view text,
                       const std::function<void(const PieceRun&)>& take) const {
  if (text.empty()) return;
  std::vector<Span> pieces = {{0, text.size()}};
  for (const SplitStep& step : steps_) {
    std::vector<Span> smaller;
    RegexBudget budget(text.size());  // of all pieces together
    for (const Span& piece : pieces)
      for (const Span& part : step.split(text.substr(piece.begin, piece.end - piece.begin), budget))
        smaller.push_back({piece.begin + part.begin, piece.begin + part.end});
    pieces = std::move(smaller);
  }
  std::string with_space;
  for (const Span& piece : pieces) {
    std::string_view rest = text.substr(piece.begin, piece.end - piece.begin);
    const bool prefixed = add_prefix_space_ && rest[0] != ' ';
    if (prefixed) {
      with_space.assign(1, ' ');
      with_space += rest;
      rest = with_space;
    }
    std::array<std::uint32_t, 512> ends;
    if (!last_) {
      ends[0] = static_cast<std::uint32_t>(rest.size());
      take({rest, 0, piece.begin, prefixed, ends.data(), 1});
      continue;
    }
    // In batches, so that neither the pieces of a long text nor a call for each of them cost much.
    std::size_t begin = 0;
    while (begin < rest.size()) {
      const std::size_t count = shellgame::cut(*last_, rest, begin, ends.data(), ends.size());
      take({rest, begin, piece.begin, prefixed, ends.data(), count});
      begin = ends[count - 1];
    }
  }
}

}  // namespace shellgame
