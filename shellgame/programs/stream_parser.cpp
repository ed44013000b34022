#include "shellgame/programs/stream_parser.h"

#include "shellgame/programs/render.h"

namespace shellgame {

void StreamParser::feed(std::string_view text, const Read& read) {
  // A prompt may be cut in two by the parts of the text.
  const std::size_t from = pending_.size() < 5 ? 0 : pending_.size() - 5;
  pending_ += text;
  const std::size_t last = pending_.rfind("\n>>> ");
  if (last == std::string::npos || last < from) return;
  const bool known = names() != nullptr;
  parser_.read_more(std::string_view(pending_).substr(0, last + 1));
  pending_.erase(0, last + 1);
  if (known) told_ = 0;
  tell(read);
}

void StreamParser::tell(const Read& read) {
  if (names() == nullptr) return;
  const Program& program = parser_.program();
  for (; told_ < program.events().size(); ++told_) read(program, program.events()[told_]);
}

std::optional<PendingValue> StreamParser::pending_value(const Read& read) {
  const std::size_t line = pending_.find('\n');
  if (line == std::string::npos) {
    // The value of an assert, perhaps in quotes.
    const std::size_t equal = pending_.find("==");
    if (equal == std::string::npos) return std::nullopt;
    const bool blank = equal + 2 == pending_.size();
    std::string begun = blank ? "" : pending_.substr(equal + 3);
    const bool quoted = begun.starts_with('\'');
    if (quoted) begun.erase(0, 1);
    const auto variable = parser_.asserted_variable(pending_.substr(0, equal + 2));
    tell(read);
    if (!variable) return std::nullopt;
    return PendingValue{
        .variable = *variable, .quoted = quoted, .blank = blank, .begun = std::move(begun)};
  }
  if (!pending_.starts_with(">>> print(") || pending_.find('\n', line + 1) != std::string::npos)
    return std::nullopt;
  auto value = printed(line);
  tell(read);
  return value;
}

bool StreamParser::begins_another(const std::string& text) const {
  for (std::size_t v = 0; v < names()->size(); ++v) {
    const std::string& other = names()->value(v).text;
    if (other != text && other.starts_with(text)) return true;
  }
  return false;
}

std::optional<PendingValue> StreamParser::printed(std::size_t line) {
  PendingValue value;
  value.variables = parser_.printed_variables(pending_.substr(0, line + 1), value.labelled);
  // Whole words of the output line, then what has begun.
  std::vector<std::string> words;
  std::size_t at = line + 1;
  for (std::size_t end; (end = pending_.find(' ', at)) != std::string::npos; at = end + 1)
    words.push_back(pending_.substr(at, end - at));
  value.begun = pending_.substr(at);
  const std::size_t each = value.labelled ? 2 : 1;
  // Tokens may begin with the blank: it is still to come where the word before it is whole.
  const std::size_t next = words.size() / each;
  const auto is_value = [&](const std::string& text) {
    return names()->find_value({text, false}) || names()->find_value({text, true});
  };
  if (value.labelled ? words.size() % 2 == 0 && next < value.variables.size() &&
                           value.begun == names()->variable(value.variables[next])
                     : next + 1 < value.variables.size() && is_value(value.begun) &&
                           !begins_another(value.begun)) {
    words.push_back(value.begun);
    value.begun.clear();
    value.blank = true;
  }
  if (words.size() % each != each - 1 || words.size() / each >= value.variables.size())
    return std::nullopt;
  for (std::size_t k = 0; k < words.size() / each; ++k) {
    const std::string& text = words[k * each + each - 1];
    auto found = names()->find_value({text, false});
    if (!found) found = names()->find_value({text, true});
    if (!found) return std::nullopt;
    value.before.emplace_back(value.variables[k], *found);
  }
  value.variable = value.variables[words.size() / each];
  value.left = value.variables.size() - words.size() / each - 1;
  return value;
}

}  // namespace shellgame
