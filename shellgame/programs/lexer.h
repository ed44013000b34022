// The words of a REPL trace: prompts are taken off, and what remains of an example's source becomes
// names, numbers, strings and operators with their places. Output lines stay whole. Only what the
// trace language needs of Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/text/error.h"

namespace shellgame {

struct Place {
  std::size_t line = 1, column = 1;  // both from 1; columns count bytes
};

[[noreturn]] void fail_at(const std::string& file, Place place, const std::string& sentence);

struct Word {
  enum class Kind : std::uint8_t { kName, kNumber, kString, kOperator, kNewline, kEnd };
  Kind kind;
  std::string_view text;  // of a string: without its quotes
  Place place;
};

// One `>>> ` with its `... ` lines, as words (kNewline between lines, kEnd last), and the output
// lines after it.
struct Example {
  std::vector<Word> words;
  struct OutputLine {
    std::string_view text;
    Place place;
  };
  std::vector<OutputLine> output;
};

// Reads example after example. Comment lines (`# ...`) and blank lines between examples are passed
// over.
class ExampleReader {
 public:
  ExampleReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}
  // False at the end of the text.
  bool next(Example& example);
  const std::string& file() const { return file_; }
  Place place() const { return {line_, 1}; }

 private:
  bool peek_line(std::string_view& line) const;
  void take_line();
  void split_words(std::string_view source, Place place, std::vector<Word>& words) const;

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace shellgame
