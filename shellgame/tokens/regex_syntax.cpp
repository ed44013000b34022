// The rewriting of patterns from Oniguruma's Ruby syntax to PCRE2's. A list of what is allowed, not
// of what is forbidden: a construct that the two libraries might read differently must not pass.
#include <cctype>

#include "shellgame/text/error.h"
#include "shellgame/tokens/regex.h"

namespace shellgame {
namespace {

// Oniguruma's \w. The superscripts and fractions of Latin-1 are its own addition.
constexpr std::string_view kWord =
    R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

class Rewriter {
 public:
  explicit Rewriter(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (!at_end()) {
      const char c = take();
      switch (c) {
        case '\\':
          escape(false);
          break;
        case '[':
          bracket();
          break;
        case '(':
          group();
          break;
        case '{':
          repeat();
          break;
        default:
          result_ += c;
      }
    }
    return std::move(result_);
  }

 private:
  bool at_end() const { return position_ == pattern_.size(); }
  char peek() const { return at_end() ? '\0' : pattern_[position_]; }
  char take() { return at_end() ? '\0' : pattern_[position_++]; }
  bool take_if(std::string_view text) {
    if (pattern_.substr(position_, text.size()) != text) return false;
    position_ += text.size();
    return true;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(
        "the pattern \"{}\" must use only what PCRE2 and Oniguruma read alike, but has {} before "
        "byte {}",
        pattern_, what, position_);
  }

  void group() {
    const std::size_t start = position_ - 1;
    result_ += '(';
    if (peek() == '*') refuse("(*");
    if (!take_if("?")) return;
    result_ += '?';
    for (const std::string_view kind : {":", "=", "!", ">", "<=", "<!"}) {
      if (take_if(kind)) {
        result_ += kind;
        return;
      }
    }
    // Options: i as it is, m of Ruby is s of Perl.
    for (;;) {
      const char c = take();
      if (c == 'm') {
        result_ += 's';
      } else if (c == 'i' || c == '-') {
        result_ += c;
      } else if (c == ':' || (c == ')' && start == 0)) {
        result_ += c;
        return;
      } else if (c == ')') {
        // Ruby's covers the alternatives that follow as a group of their own.
        refuse("options without a group of their own");
      } else {
        refuse("a group that begins \"(?\" with something else than : = ! > <= <! i m -");
      }
    }
  }

  void repeat() {
    const std::size_t close = pattern_.find('}', position_);
    const std::string_view inside =
        close == std::string_view::npos ? "" : pattern_.substr(position_, close - position_);
    const std::size_t comma = inside.find(',');
    const auto is_number = [](std::string_view text) {
      return !text.empty() && text.size() <= 4 &&
             text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (!is_number(inside.substr(0, comma)) ||
        (comma != std::string_view::npos && comma + 1 < inside.size() &&
         !is_number(inside.substr(comma + 1))))
      refuse("a { that begins no repetition such as {1,3}");
    position_ = close + 1;
    result_ += fmt::format("{{{}}}", inside);
    if (peek() == '+') refuse("a possessive {...}+");
    if (peek() == '?' && comma == std::string_view::npos) refuse("a lazy {n}?");
  }

  // Inside of [...]: everything but nested sets, intersections and POSIX names.
  void bracket() {
    result_ += '[';
    if (take_if("^")) result_ += '^';
    if (peek() == ']') refuse("an empty []");
    for (;;) {
      if (at_end()) refuse("a [ without its ]");
      const char c = take();
      if (c == ']') {
        result_ += c;
        return;
      }
      if (c == '[') refuse("a [ inside of [...]");
      if (c == '&' && peek() == '&') refuse("an intersection && inside of [...]");
      if (c == '\\') {
        escape(true);
      } else {
        result_ += c;
      }
    }
  }

  void escape(bool in_bracket) {
    if (at_end()) refuse("a lone \\ at its end");
    const char c = take();
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      result_ += '\\';
      result_ += c;
      return;
    }
    switch (c) {
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'a':
      case 'e':
        result_ += {'\\', c};
        return;
      case 'v':
        result_ += "\\x0b";  // PCRE2's \v is a class
        return;
      case 's':
      case 'S':
        // PCRE2's \s also has U+180E.
        result_ += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
        return;
      case 'd':
      case 'D':
        result_ += c == 'd' ? "\\p{Nd}" : "\\P{Nd}";
        return;
      case 'h':
        result_ += in_bracket ? "0-9a-fA-F" : "[0-9a-fA-F]";
        return;
      case 'w':
        result_ += in_bracket ? std::string(kWord) : fmt::format("[{}]", kWord);
        return;
      case 'p':
      case 'P':
        property(c);
        return;
      case 'x':
      case 'u':
        code_point(c);
        return;
      default:
        break;
    }
    if (in_bracket) refuse(fmt::format("\\{} inside of [...]", c));
    switch (c) {
      case 'W':
        result_ += fmt::format("[^{}]", kWord);
        return;
      case 'b':
        result_ += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWord);
        return;
      case 'B':
        result_ += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWord);
        return;
      case 'A':
      case 'z':
      case 'Z':
        result_ += {'\\', c};
        return;
      default:
        refuse(fmt::format("\\{}", c));
    }
  }

  // \p{L}, \p{Lu}, \p{^L}; longer names are scripts, which PCRE2 by default takes more widely.
  void property(char letter) {
    if (!take_if("{")) refuse("a \\p without {...}");
    bool negated = letter == 'P';
    if (take_if("^")) negated = !negated;
    std::string name;
    while (std::isalpha(static_cast<unsigned char>(peek())) != 0 || peek() == '_') name += take();
    if (name.empty() || !take_if("}")) refuse("a \\p{...} whose name is not made of letters");
    result_ += fmt::format("\\{}{{{}{}}}", negated ? 'P' : 'p', name.size() > 2 ? "sc:" : "", name);
  }

  // \x41, \x{41}, \u0041.
  void code_point(char letter) {
    const bool braces = letter == 'x' && take_if("{");
    const std::size_t most = braces ? 6 : letter == 'u' ? 4 : 2;
    std::string digits;
    while (digits.size() < most && std::isxdigit(static_cast<unsigned char>(peek())) != 0)
      digits += take();
    if (digits.empty() || (letter == 'u' && digits.size() < 4) || (braces && !take_if("}")))
      refuse("a code point that is not written \\x41, \\x{41} or \\u0041");
    // Oniguruma takes \x80 and above as bytes, not as code points.
    if (letter == 'x' && !braces && std::stoi(digits, nullptr, 16) >= 0x80)
      refuse("a byte above \\x7f");
    result_ += fmt::format("\\x{{{}}}", digits);
  }

  std::string_view pattern_;
  std::size_t position_ = 0;
  std::string result_;
};

}  // namespace

std::string pcre2_pattern(std::string_view oniguruma) { return Rewriter(oniguruma).run(); }

}  // namespace shellgame
