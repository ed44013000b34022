// A text cut into the examples that Python is to run, by doctest's rules: ">>> " starts an example,
// "... " continues it, the lines up to the next prompt or blank line are its output, all else is
// prose.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

struct ReplayExample {
  std::size_t line;         // of the prompt, from 1
  std::string_view source;  // without prompts; lines joined by newlines, usually none at the end
  std::string_view want;    // the expected output, each line with its newline
};

// Owns the text that its examples look into.
class CutText {
 public:
  explicit CutText(std::string_view text);

  std::string_view text() const { return *text_; }
  const std::vector<ReplayExample>& examples() const { return examples_; }
  // doctest refuses such a text as a whole: a prompt without its blank, a broken indentation.
  struct Malformed {
    std::size_t line;
    std::string source, why;
  };
  const std::optional<Malformed>& malformed() const { return malformed_; }

 private:
  void cut(const std::vector<std::string_view>& lines);
  std::string_view joined(const std::vector<std::string_view>& lines, std::size_t first,
                          std::size_t last, std::size_t skipped, bool newline_at_end);

  std::unique_ptr<const std::string> text_;  // its address stays when this object moves
  bool whole_lines_ = true;                  // no indentation is shared by all of them
  std::deque<std::string> made_;             // sources and outputs that are not a piece of the text
  std::vector<ReplayExample> examples_;
  std::optional<Malformed> malformed_;
};

// Whether the expected output is a traceback that ends in this message (the last line of what
// Python would write, with its newline), by doctest's rules.
bool expects_exception(std::string_view want, std::string_view message);

}  // namespace shellgame
