#include "shellgame/tokens/added_tokens.h"

#include <algorithm>

#include "shellgame/tokens/character_class.h"
#include "shellgame/tokens/span.h"

namespace shellgame {
namespace {

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(code_point_at(text, code_point_before(text, begin)).value))
    return true;
  return end < text.size() && is_word_character(code_point_at(text, end).value);
}

bool is_white(CharacterClass kind) {
  return kind == CharacterClass::kSpace || kind == CharacterClass::kNewline;
}

std::size_t white_begin(std::string_view text, std::size_t position, std::size_t from) {
  while (position > from) {
    const std::size_t before = code_point_before(text, position);
    if (!is_white(classify_at(text, before).kind)) break;
    position = before;
  }
  return position;
}

std::size_t white_end(std::string_view text, std::size_t position) {
  while (position < text.size()) {
    const ClassifiedCharacter next = classify_at(text, position);
    if (!is_white(next.kind)) break;
    position += next.length;
  }
  return position;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), nodes_(1) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    std::uint32_t node = 0;
    for (const char byte : tokens_[i].content) {
      const auto& next = nodes_[node].next;
      const auto known = std::find_if(next.begin(), next.end(),
                                      [&](const auto& edge) { return edge.first == byte; });
      if (known != next.end()) {
        node = known->second;
        continue;
      }
      const auto fresh = static_cast<std::uint32_t>(nodes_.size());
      nodes_[node].next.emplace_back(byte, fresh);
      nodes_.emplace_back();
      node = fresh;
    }
    // Of equal texts, which normalising can make, the first one counts.
    if (nodes_[node].token < 0) nodes_[node].token = static_cast<std::int32_t>(i);
  }
  for (const auto& [byte, node] : nodes_[0].next) starts_[static_cast<unsigned char>(byte)] = true;
}

const AddedToken* AddedTokenFinder::longest_at(std::string_view text, std::size_t begin) const {
  const AddedToken* longest = nullptr;
  std::uint32_t node = 0;
  for (std::size_t position = begin; position < text.size(); ++position) {
    const auto& next = nodes_[node].next;
    const auto edge = std::find_if(next.begin(), next.end(),
                                   [&](const auto& e) { return e.first == text[position]; });
    if (edge == next.end()) break;
    node = edge->second;
    if (nodes_[node].token >= 0) longest = &tokens_[static_cast<std::size_t>(nodes_[node].token)];
  }
  return longest;
}

std::vector<AddedTokenFinder::Found> AddedTokenFinder::find(std::string_view text) const {
  std::vector<Found> found;
  std::size_t taken = 0;  // the end of the last token, with its white space
  Span white;             // the last white space that was walked over: it is not walked again
  for (std::size_t position = 0; position < text.size();) {
    if (!starts_[static_cast<unsigned char>(text[position])]) {
      ++position;
      continue;
    }
    const AddedToken* token = longest_at(text, position);
    if (token == nullptr) {
      ++position;
      continue;
    }
    std::size_t begin = position, end = position + token->content.size();
    position = end;  // the search goes on here even when the token is discarded
    if (token->single_word && touches_word(text, begin, end)) continue;
    if (token->lstrip)
      begin = taken < begin ? white_begin(text, begin, taken) : std::min(taken, end);
    if (token->rstrip) {
      if (end < white.begin || end > white.end) white = {end, white_end(text, end)};
      end = white.end;
    }
    found.push_back({begin, end, token->id});
    taken = end;
  }
  return found;
}

}  // namespace shellgame
