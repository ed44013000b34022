// The lexeme tokenizer written for Hugging Face's library: a WordLevel model over the pieces of a
// Split whose alternatives stand longest first, which makes its leftmost choice the longest match.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

std::string escaped(const std::string& lexeme) {
  std::string pattern;
  for (const char byte : lexeme) {
    if (byte == '\n') {
      pattern += "\\n";
      continue;
    }
    if (std::string_view("()[].-?*+|^$\\{}").find(byte) != std::string_view::npos) pattern += '\\';
    pattern += byte;
  }
  return pattern;
}

}  // namespace

std::string lexeme_tokenizer_json() {
  using Json = nlohmann::ordered_json;
  const std::vector<std::string>& tokens = LexemeTokenizer::vocabulary();

  Json added = Json::array();
  for (std::uint32_t id = 0; id < LexemeTokenizer::kFirstLexeme; ++id)
    added.push_back({{"id", id},
                     {"content", tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});

  std::vector<std::string> longest_first(tokens.begin() + LexemeTokenizer::kFirstLexeme,
                                         tokens.end());
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::string pattern;
  for (const std::string& lexeme : longest_first) {
    if (!pattern.empty()) pattern += '|';
    pattern += escaped(lexeme);
  }

  Json vocabulary = Json::object();
  for (std::uint32_t id = 0; id < tokens.size(); ++id) vocabulary[tokens[id]] = id;

  const Json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "Split"},
        {"pattern", {{"Regex", pattern}}},
        {"behavior", "Isolated"},
        {"invert", false}}},
      {"post_processor", nullptr},
      {"decoder", {{"type", "Fuse"}}},
      {"model",
       {{"type", "WordLevel"},
        {"vocab", vocabulary},
        {"unk_token", tokens[LexemeTokenizer::kUnk]}}},
  };
  return file.dump(2) + "\n";
}

}  // namespace shellgame
