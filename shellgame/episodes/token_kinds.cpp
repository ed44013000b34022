#include "shellgame/episodes/token_kinds.h"

#include <algorithm>
#include <array>

#include "shellgame/programs/render.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

bool is_variable(std::string_view lexeme) {
  return lexeme.size() == 1 && lexeme[0] >= 'a' && lexeme[0] <= 'z';
}

bool is_number(std::string_view lexeme) {
  return !lexeme.empty() &&
         std::ranges::all_of(lexeme, [](char c) { return c >= '0' && c <= '9'; });
}

// Reads the lexemes of one line from left to right.
class LineReader {
 public:
  TokenKind next(std::string_view lexeme) {
    const bool first = at_++ == 0;
    if (lexeme == "\n") return TokenKind::kNewline;
    if (lexeme == kPrompt || lexeme == kContinuation) {
      form_ = Form::kLeft;
      return TokenKind::kLineStart;
    }
    if (first) form_ = Form::kShown;  // no prompt: an output
    if (lexeme.starts_with("print(")) {
      form_ = Form::kShown;
      return TokenKind::kPrint;
    }
    if (lexeme == "assert ") {
      form_ = Form::kShown;
      return TokenKind::kOther;
    }
    if (lexeme == "if " || lexeme == "elif " || lexeme == "else" || lexeme == "def work" ||
        lexeme.starts_with("from ")) {
      form_ = Form::kUnread;
      return TokenKind::kOther;
    }
    if (lexeme == ": " && form_ == Form::kUnread) {  // the command after a condition
      form_ = Form::kLeft;
      return TokenKind::kOther;
    }
    return inside(lexeme);
  }

 private:
  enum class Form { kLeft, kRight, kShown, kUnread };

  TokenKind inside(std::string_view lexeme) {
    if (form_ == Form::kUnread) return TokenKind::kOther;
    if (form_ == Form::kShown) {
      if (is_variable(lexeme)) return TokenKind::kName;
      if (is_number(lexeme)) return TokenKind::kValue;
      return lexeme == " " || lexeme == " == " ? TokenKind::kSpace : TokenKind::kOther;
    }
    const bool left = form_ == Form::kLeft;
    if (lexeme == " = ") {
      form_ = Form::kRight;
      return TokenKind::kEquals;
    }
    if (is_variable(lexeme)) return left ? TokenKind::kLeft : TokenKind::kRight;
    if (lexeme == ", ") return left ? TokenKind::kLeftComma : TokenKind::kRightComma;
    return is_number(lexeme) && !left ? TokenKind::kAssigned : TokenKind::kOther;
  }

  Form form_ = Form::kLeft;
  std::size_t at_ = 0;
};

// The kind of every byte.
std::vector<TokenKind> kinds_of_bytes(std::string_view text) {
  const LexemeTokenizer lexemes;
  std::vector<TokenKind> kinds(text.size(), TokenKind::kOther);
  std::vector<std::uint32_t> ids, offsets;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t newline = text.find('\n', from);
    const std::size_t to = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line = text.substr(from, to - from);
    ids.clear();
    offsets.clear();
    try {
      lexemes.encode_with_offsets(line, ids, offsets);
    } catch (const Error&) {  // strings as values
      const std::size_t prompt = line.starts_with(kPrompt) ? kPrompt.size() : 0;
      std::fill_n(kinds.begin() + static_cast<std::ptrdiff_t>(from), prompt, TokenKind::kLineStart);
      if (line.ends_with('\n')) kinds[to - 1] = TokenKind::kNewline;
      ids.clear();
    }
    LineReader reader;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t end = i + 1 < ids.size() ? offsets[i + 1] : line.size();
      const TokenKind kind = reader.next(line.substr(offsets[i], end - offsets[i]));
      std::fill(kinds.begin() + static_cast<std::ptrdiff_t>(from + offsets[i]),
                kinds.begin() + static_cast<std::ptrdiff_t>(from + end), kind);
    }
    from = to;
  }
  return kinds;
}

}  // namespace

const char* to_string(TokenKind kind) {
  static constexpr std::array<const char*, kTokenKinds> kNames = {
      "newline",        "prompt",      "left variable",  "left comma", "=",
      "right variable", "right comma", "assigned value", "print",      "name",
      "space",          "value",       "element",        "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<TokenKind> token_kinds(std::string_view text,
                                   const std::vector<std::uint32_t>& offsets) {
  const std::vector<TokenKind> bytes = kinds_of_bytes(text);
  std::vector<TokenKind> kinds;
  for (const std::uint32_t offset : offsets) {
    kinds.push_back(offset < bytes.size() ? bytes[offset] : TokenKind::kOther);
  }
  return kinds;
}

}  // namespace shellgame
