// The parser for a text that comes in parts, in constant memory: events as soon as their example is
// complete, and what the example that is not complete asks for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shellgame/programs/parser.h"

namespace shellgame {

// A value that the text is about to show: `>>> print(a, b)` and the first value of two asks for b,
// given a.
struct PendingValue {
  VariableId variable = 0;
  bool quoted = false;                                      // a string stands in quotes here
  std::vector<std::pair<VariableId, ValueId>> before = {};  // shown by the same print
  std::size_t left = 0;                    // variables that it shows after this one
  bool labelled = false;                   // and whether with their names
  bool blank = false;                      // the blank before the value is still to come
  std::string begun = {};                  // of the value's own text
  std::vector<VariableId> variables = {};  // of the print
};

class StreamParser {
 public:
  explicit StreamParser(const std::string& file = "trace") : parser_("", file) {}

  // Takes more of the text and calls `read` with the program and each event of examples that it
  // completes: an example is complete when the next prompt has begun. Throws InputError.
  using Read = std::function<void(const Program&, const Event&)>;
  void feed(std::string_view text, const Read& read);
  // The example that is not complete, from its prompt on.
  const std::string& pending() const { return pending_; }
  // What it shows next; nothing where it does not show a value here. First values become events
  // when a variable is used, and a question may be the first use: `read` then gets them.
  std::optional<PendingValue> pending_value(const Read& read);
  // Known after the first event that uses a variable.
  const std::shared_ptr<const Names>& names() const { return parser_.program().shared_names(); }

 private:
  void tell(const Read& read);
  std::optional<PendingValue> printed(std::size_t line);
  // Whether a longer value begins with this text.
  bool begins_another(const std::string& text) const;

  Parser parser_;
  std::string pending_;
  std::size_t told_ = 0;  // events of the program that `read` has got, before names are known
};

}  // namespace shellgame
