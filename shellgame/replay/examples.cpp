#include "shellgame/replay/examples.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cstdint>

namespace shellgame {
namespace {

constexpr std::string_view kPrompt = ">>>", kContinuation = "...";
constexpr std::size_t kPromptLength = 3, kTabStop = 8;

// The first character, or -1 for a byte that begins none in UTF-8; `length` is how many bytes it
// takes.
std::int32_t first_character(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  length = 1;
  if (byte(0) < 0x80) return byte(0);
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return -1;
  std::int32_t character = byte(0) & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return -1;
    character = character << 6 | (byte(i) & 0x3f);
  }
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (surrogate || character > 0x10ffff || (bytes == 3 && character < 0x800) ||
      (bytes == 4 && character < 0x10000)) {
    return -1;
  }
  length = bytes;
  return character;
}

// Python's str.isspace().
bool is_python_space(std::int32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

// Python's str.expandtabs(): columns are counted in characters, from the last line end of any kind.
std::string without_tabs(std::string_view text) {
  std::string expanded;
  std::size_t column = 0;
  while (!text.empty()) {
    if (text[0] == '\t') {
      const std::size_t blanks = kTabStop - column % kTabStop;
      expanded.append(blanks, ' ');
      column += blanks;
      text.remove_prefix(1);
      continue;
    }
    std::size_t length = 1;
    first_character(text, length);
    column = text[0] == '\n' || text[0] == '\r' ? 0 : column + 1;
    expanded.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return expanded;
}

std::size_t indentation_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string_view from(std::string_view line, std::size_t at) {
  return line.substr(std::min(at, line.size()));
}

// Without its first characters, whatever they are.
std::string_view without_characters(std::string_view line, std::size_t count) {
  for (; count > 0 && !line.empty(); --count) {
    std::size_t length = 1;
    first_character(line, length);
    line.remove_prefix(length);
  }
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  lines.reserve(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  for (;;) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// The indentation that all lines share; lines that begin with other white space do not count.
std::size_t shared_indentation(const std::vector<std::string_view>& lines) {
  std::size_t shared = std::string_view::npos;
  for (const std::string_view line : lines) {
    const std::size_t here = indentation_of(line);
    std::size_t length = 0;
    if (here >= shared || here == line.size() ||
        is_python_space(first_character(line.substr(here), length))) {
      continue;
    }
    shared = here;
    if (shared == 0) break;
  }
  return shared == std::string_view::npos ? 0 : shared;
}

bool is_nothing_or_comment(std::string_view source) {
  if (source.ends_with('\n')) source.remove_suffix(1);
  if (source.find('\n') != std::string_view::npos) return false;
  source = from(source, indentation_of(source));
  return source.empty() || source[0] == '#';
}

}  // namespace

CutText::CutText(std::string_view text)
    : text_(std::make_unique<const std::string>(
          text.find('\t') == std::string_view::npos ? std::string(text) : without_tabs(text))) {
  std::vector<std::string_view> lines = lines_of(*text_);
  if (const std::size_t shared = shared_indentation(lines); shared > 0) {
    whole_lines_ = false;
    for (std::string_view& line : lines) line = without_characters(line, shared);
  }
  cut(lines);
}

// Lines [first, last), each without its first `skipped` characters. A piece of the text where it is
// one, which it is in almost every trace.
std::string_view CutText::joined(const std::vector<std::string_view>& lines, std::size_t first,
                                 std::size_t last, std::size_t skipped, bool newline_at_end) {
  if (first == last) return {};
  const bool piece = last == first + 1 || (skipped == 0 && whole_lines_);
  const char* const end = lines[last - 1].data() + lines[last - 1].size();
  if (piece && (!newline_at_end || end < text_->data() + text_->size())) {
    const char* const begin = from(lines[first], skipped).data();
    return {begin, static_cast<std::size_t>(end - begin) + (newline_at_end ? 1 : 0)};
  }
  std::string& made = made_.emplace_back();
  for (std::size_t i = first; i < last; ++i) {
    made += from(lines[i], skipped);
    if (i + 1 < last || newline_at_end) made += '\n';
  }
  return made;
}

void CutText::cut(const std::vector<std::string_view>& lines) {
  const auto body = [&](std::size_t i) { return from(lines[i], indentation_of(lines[i])); };
  const std::size_t end = lines.size();
  for (std::size_t n = 0; n < end;) {
    if (!body(n).starts_with(kPrompt)) {
      ++n;
      continue;
    }
    const std::size_t start = n, indent = indentation_of(lines[n]);
    for (++n; n < end && body(n).starts_with(kContinuation);) ++n;
    const std::size_t prompts = n;
    while (n < end && !body(n).empty() && !body(n).starts_with(kPrompt)) ++n;
    const auto refuse = [&](std::size_t i, const char* why) {
      malformed_ = Malformed{i + 1, std::string(lines[i]), why};
      examples_.clear();
    };
    for (std::size_t i = start; i < prompts; ++i) {
      const std::string_view rest = from(lines[i], indent + kPromptLength);
      if (!rest.empty() && rest[0] != ' ') return refuse(i, "a prompt must be followed by a blank");
    }
    for (std::size_t i = start + 1; i < n; ++i) {
      if (indentation_of(lines[i]) < indent ||
          (i < prompts && !from(lines[i], indent).starts_with('.'))) {
        return refuse(i, "the indentation must be that of the prompt");
      }
    }
    const std::string_view source =
        joined(lines, start, prompts, indent + kPromptLength + 1, false);
    if (is_nothing_or_comment(source)) continue;
    examples_.push_back({start + 1, source, joined(lines, prompts, n, indent, true)});
  }
}

bool expects_exception(std::string_view want, std::string_view message) {
  std::string_view head = want.substr(0, want.find('\n'));
  for (;;) {  // white space at its end does not count
    std::size_t last = head.size();
    while (last > 0 && (head[--last] & 0xc0) == 0x80) {
    }
    std::size_t length = 0;
    if (head.empty() || !is_python_space(first_character(head.substr(last), length))) break;
    head.remove_suffix(head.size() - last);
  }
  if (head != "Traceback (most recent call last):" && head != "Traceback (innermost last):") {
    return false;
  }
  // The message begins at the first line that begins like a word.
  for (std::size_t at = want.find('\n'); at != std::string_view::npos; at = want.find('\n', at)) {
    const std::string_view rest = want.substr(++at);
    std::size_t length = 0;
    const std::int32_t c = rest.empty() ? -1 : first_character(rest, length);
    if (c < 0) continue;
    if (c == '_' || (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0) return rest == message;
  }
  return false;
}

}  // namespace shellgame
