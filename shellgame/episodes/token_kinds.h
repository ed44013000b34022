// The part that each token of a trace plays: newline, prompt, variable on the left of `=`, and so
// on. Read from the text's lexemes, so it holds for any tokenizer: a token plays the part of the
// lexeme in which it begins. No Torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

enum class TokenKind : std::uint8_t {
  kNewline,
  kLineStart,   // the prompt, also `... `
  kLeft,        // a variable on the left of `=`
  kLeftComma,   // a comma there
  kEquals,      // ` = `
  kRight,       // a variable on the right
  kRightComma,  // a comma there
  kAssigned,    // the value of `a = 1`
  kPrint,       // print(' or print(
  kName,        // a variable that is printed or asserted, or its name in the output
  kSpace,       // before a value in the output; also ` == `
  kValue,       // a value that is shown
  kElement,     // of a word problem
  kOther,
};
inline constexpr std::size_t kTokenKinds = static_cast<std::size_t>(TokenKind::kOther) + 1;

// "left variable", "=", ...
const char* to_string(TokenKind kind);

// The kinds of tokens that begin at these bytes of a trace's text. Lines that are not of lexemes
// (strings as values) are kOther but for prompt and newline.
std::vector<TokenKind> token_kinds(std::string_view text,
                                   const std::vector<std::uint32_t>& offsets);

}  // namespace shellgame
