#include "shellgame/text/read_toml.h"

#include <algorithm>
#include <vector>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

// Looks only for nesting; everything else is left to the parser. The parser stops at the first
// thing that is wrong, so that what this walk takes for something else after it does no harm.
class TomlNesting {
 public:
  TomlNesting(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#') {
      skip_to_newline();
    } else if (c == '"' || c == '\'') {
      skip_string(c);
      fresh_ = false;
    } else if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
      if (header_) header_depth_ = depth_;
      if (open_.empty() || header_) {
        open_.clear();
        begin_statement();
      }
    } else {
      word(c);
      ++at_;
    }
  }

  void word(char c) {
    if (c == ' ' || c == '\t' || c == '\r') return;
    if (c == '[' && fresh_) {
      // [a.b] or [[a.b]]: its keys are around everything up to the next header.
      header_ = true;
      depth_ = 1;
    } else if (header_) {
      if (c == '.') deeper();
    } else if (c == '.') {
      deeper();
    } else if (c == '[' || c == '{') {
      open_.push_back(depth_);
      deeper();
    } else if ((c == ']' || c == '}') && !open_.empty()) {
      depth_ = open_.back();
      open_.pop_back();
    } else if (c == ',' && !open_.empty()) {
      depth_ = open_.back() + 1;  // dots of the entry before it are past
    }
    fresh_ = false;
  }

  void begin_statement() {
    header_ = false;
    fresh_ = true;
    depth_ = header_depth_;
  }

  void deeper() {
    if (++depth_ <= kMaxNesting) return;
    throw InputError(fmt::format("{}:{}:{}", file_, line_, at_ - line_start_ + 1),
                     fmt::format("tables and lists must be nested at most {} deep", kMaxNesting));
  }

  void skip_to_newline() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const bool several = text_.substr(at_, 3) == std::string(3, quote);
    at_ += several ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!several) return;  // wrong, which the parser will say
        ++line_;
        line_start_ = at_ + 1;
      }
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      if (c == quote && (!several || text_.substr(at_, 3) == std::string(3, quote))) {
        at_ += several ? 3 : 1;
        // Up to two quotes may stand before those that close.
        for (int i = 0; several && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
        return;
      }
      ++at_;
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_ = 1, line_start_ = 0;
  bool fresh_ = true, header_ = false;  // at the beginning of a statement; inside of a header
  std::size_t depth_ = 0, header_depth_ = 0;
  std::vector<std::size_t> open_;  // the depth before each open bracket
};

}  // namespace

std::string toml_place(const std::string& file, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", file, source.begin.line, source.begin.column);
}

toml::table parse_toml(std::string_view text, const std::string& file) {
  TomlNesting(text, file).check();
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(toml_place(file, error.source()), std::string(error.description()));
  }
}

}  // namespace shellgame
