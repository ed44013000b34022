#include "shellgame/programs/lexer.h"

#include <array>

namespace shellgame {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longest first, so that `==` is not read as `=` twice.
constexpr std::array<std::string_view, 15> kOperators = {"==", "!=", ":=", "<", "=", ",", "(", ")",
                                                         "[",  "]",  "{",  "}", ":", ";", "-"};

bool is_prompt(std::string_view line) { return line == ">>>" || line.starts_with(">>> "); }
bool is_continuation(std::string_view line) { return line == "..." || line.starts_with("... "); }
bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void fail_at(const std::string& file, Place place, const std::string& sentence) {
  throw InputError(fmt::format("{}:{}:{}", file, place.line, place.column), sentence);
}

bool ExampleReader::peek_line(std::string_view& line) const {
  if (at_ >= text_.size()) return false;
  line = text_.substr(at_, text_.find('\n', at_) - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

void ExampleReader::take_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  ++line_;
}

bool ExampleReader::next(Example& example) {
  example.words.clear();
  example.output.clear();
  std::string_view line;
  for (; peek_line(line); take_line()) {
    if (is_prompt(line)) break;
    if (is_blank(line) || line.starts_with('#')) continue;
    fail_at(file_, place(),
            fmt::format("a line outside an example must be blank or start with '#', not '{}'",
                        line.substr(0, 40)));
  }
  if (!peek_line(line)) return false;

  constexpr std::size_t kPromptWidth = 4;
  const auto source_of = [=](std::string_view of) {
    return of.substr(std::min(of.size(), kPromptWidth));
  };
  split_words(source_of(line), {line_, kPromptWidth + 1}, example.words);
  take_line();
  while (peek_line(line) && is_continuation(line)) {
    example.words.push_back({Word::Kind::kNewline, "", {line_, 1}});
    split_words(source_of(line), {line_, kPromptWidth + 1}, example.words);
    take_line();
  }
  const Place last = example.words.empty() ? Place{line_ - 1, 5} : example.words.back().place;
  example.words.push_back(
      {Word::Kind::kEnd,
       "",
       {last.line, last.column + (example.words.empty() ? 0 : example.words.back().text.size())}});

  while (peek_line(line) && !is_prompt(line) && !is_blank(line)) {
    example.output.push_back({line, place()});
    take_line();
  }
  return true;
}

void ExampleReader::split_words(std::string_view source, Place place,
                                std::vector<Word>& words) const {
  const std::size_t first = place.column;
  std::size_t i = 0;
  const auto add = [&](Word::Kind kind, std::size_t begin, std::size_t end) {
    words.push_back({kind, source.substr(begin, end - begin), {place.line, first + begin}});
  };
  while (i < source.size()) {
    const char c = source[i];
    std::size_t end = i + 1;
    if (c == ' ' || c == '\t') {
      ++i;
      continue;
    }
    if (c == '#') return;
    if (is_letter(c)) {
      while (end < source.size() && (is_letter(source[end]) || is_digit(source[end]))) ++end;
      add(Word::Kind::kName, i, end);
    } else if (is_digit(c) || (c == '.' && end < source.size() && is_digit(source[end]))) {
      // Digits, a point, an exponent: 0.5, .25, 1e-05.
      while (end < source.size() &&
             (is_digit(source[end]) || is_letter(source[end]) || source[end] == '.' ||
              ((source[end] == '-' || source[end] == '+') &&
               (source[end - 1] == 'e' || source[end - 1] == 'E')))) {
        ++end;
      }
      add(Word::Kind::kNumber, i, end);
    } else if (c == '\'' || c == '"') {
      while (end < source.size() && source[end] != c && source[end] != '\\') ++end;
      if (end == source.size())
        fail_at(file_, {place.line, first + i}, "a string must end on its own line");
      if (source[end] == '\\') {
        fail_at(file_, {place.line, first + end},
                "a string must be plain: it may not hold a backslash");
      }
      add(Word::Kind::kString, i + 1, end);
      words.back().place.column = first + i;
      ++end;
    } else {
      std::string_view found;
      for (std::string_view op : kOperators) {
        if (source.substr(i).starts_with(op)) {
          found = op;
          break;
        }
      }
      if (found.empty()) {
        fail_at(file_, {place.line, first + i},
                fmt::format("'{}' is not part of the trace language", c));
      }
      end = i + found.size();
      add(Word::Kind::kOperator, i, end);
    }
    i = end;
  }
}

}  // namespace shellgame
