#include "shellgame/tokens/lexeme_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "shellgame/text/error.h"
#include "shellgame/tokens/offsets.h"

namespace shellgame {
namespace {

std::vector<std::string> make_vocabulary() {
  std::vector<std::string> tokens = {"<pad>", "<bos>", "<eos>", "<unk>"};
  // Variables and values: one token each, wherever they stand.
  for (char letter = 'a'; letter <= 'z'; ++letter) tokens.emplace_back(1, letter);
  for (int number = 0; number <= 16; ++number) tokens.push_back(std::to_string(number));
  // The rest of the language. No lexeme may hold a letter or digit where a variable or value can
  // stand; the only exceptions are words, and in a word a second letter follows.
  for (const char* lexeme : {
           "\n",
           ">>> ",
           "... ",
           " ",
           "'",
           "(",
           ")",
           ",",
           ".",
           "_",
           "-",
           ", ",
           ": ",
           "; ",
           " = ",
           " < ",
           " == ",
           " != ",
           " in (",
           "print(",
           "print('",
           "assert ",
           "if ",
           "elif ",
           "else",
           "pass",
           "def work",
           "work",
           "return ",
           "draw",
           "(draw := ",
           "random()",
           "fetch()",
           "start(",
           "sample((",
           "), k=",
           "float(environ['LOAD_",
           "'])",
           "from random import random",
           "from random import sample",
           "from os import environ",
           "from service import fetch",
           "from service import start",
       })
    tokens.emplace_back(lexeme);
  return tokens;
}

// What to do at two given bytes: take one certain lexeme at once, or try a list of them.
struct Choice {
  std::uint8_t length = 0;  // of the certain lexeme; 0 when there is none
  std::uint8_t id = 0;
  std::uint8_t first = 0, last = 0;  // candidates longer than two bytes, longest first
};

struct Table {
  struct Candidate {
    std::uint64_t head, mask;  // its first eight bytes, and which bits of them count
    std::uint8_t length, id;
    const char* text;

    bool matches(const char* rest, std::size_t left) const {
      if (length > left) return false;
      if (left < 8) return std::memcmp(rest, text, length) == 0;
      std::uint64_t word;
      std::memcpy(&word, rest, 8);
      if (((word ^ head) & mask) != 0) return false;
      return length <= 8 || std::memcmp(rest + 8, text + 8, length - 8u) == 0;
    }
  };
  // The second byte is 0 at the end of the text, where no longer lexeme can match.
  std::array<Choice, 128 * 128> choices;
  std::vector<Candidate> candidates;

  Table() {
    const std::vector<std::string>& tokens = LexemeTokenizer::vocabulary();
    std::vector<std::uint32_t> order;
    for (std::uint32_t id = LexemeTokenizer::kFirstLexeme; id < tokens.size(); ++id)
      order.push_back(id);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tokens[a].size() > tokens[b].size();
    });
    for (std::size_t first = 0; first < 128; ++first) {
      for (std::size_t second = 0; second < 128; ++second) {
        Choice& choice = choices[first * 128 + second];
        choice.first = static_cast<std::uint8_t>(candidates.size());
        for (const std::uint32_t id : order) {
          const std::string& token = tokens[id];
          if (token[0] != static_cast<char>(first)) continue;
          if (token.size() > 1 && token[1] != static_cast<char>(second)) continue;
          const auto length = static_cast<std::uint8_t>(token.size());
          const auto small_id = static_cast<std::uint8_t>(id);
          if (token.size() > 2) {
            Candidate candidate{0, 0, length, small_id, token.c_str()};
            const std::size_t head = std::min<std::size_t>(8, length);
            std::memcpy(&candidate.head, token.data(), head);
            std::memset(&candidate.mask, 0xFF, head);
            candidates.push_back(candidate);
          } else {
            choice.length = length;
            choice.id = small_id;
            break;
          }
        }
        choice.last = static_cast<std::uint8_t>(candidates.size());
      }
    }
  }
};

const Table& table() {
  static const Table only;
  return only;
}

// The lexeme at the start of `rest`, which is not empty; length 0 when there is none.
inline Choice next_lexeme(const Table& known, const char* rest, std::size_t left) {
  const auto first = static_cast<unsigned char>(rest[0]);
  const unsigned second = left > 1 ? static_cast<unsigned char>(rest[1]) : 0;
  if (first >= 128) return {};
  // A second byte outside ASCII follows no lexeme of two bytes; 0 stands for it too.
  const Choice& choice = known.choices[first * 128u + (second < 128 ? second : 0)];
  for (unsigned i = choice.first; i < choice.last; ++i) {
    const Table::Candidate& candidate = known.candidates[i];
    if (candidate.matches(rest, left)) return {candidate.length, candidate.id, 0, 0};
  }
  return choice;
}

[[noreturn]] void no_lexeme(std::string_view text, std::size_t position) {
  const std::size_t newline = text.substr(0, position).rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(position), '\n');
  std::string there;
  for (const char byte :
       text.substr(position, std::min<std::size_t>(12, text.find('\n', position) - position))) {
    const auto code = static_cast<unsigned char>(byte);
    there += code >= 32 && code < 127 ? std::string(1, byte) : fmt::format("\\x{:02x}", code);
  }
  fail(
      "a text for the lexeme tokenizer must be made of its lexemes, but none begins \"{}\" at "
      "byte {} (line {}, column {})",
      there, position, line, position - line_begin + 1);
}

// One loop for both kinds of encoding; ids go through a small buffer, so that appending is cheap.
template <bool kOffsets>
void run(std::string_view text, std::vector<std::uint32_t>& ids,
         std::vector<std::uint32_t>* offsets) {
  const Table& known = table();
  const std::size_t ids_before = ids.size(), offsets_before = kOffsets ? offsets->size() : 0;
  constexpr std::size_t kBuffered = 1024;
  std::uint32_t id_buffer[kBuffered], offset_buffer[kOffsets ? kBuffered : 1];
  std::size_t position = 0;
  while (position < text.size()) {
    std::size_t filled = 0;
    for (; filled < kBuffered && position < text.size(); ++filled) {
      const Choice lexeme = next_lexeme(known, text.data() + position, text.size() - position);
      if (lexeme.length == 0) {
        ids.resize(ids_before);
        if constexpr (kOffsets) offsets->resize(offsets_before);
        no_lexeme(text, position);
      }
      id_buffer[filled] = lexeme.id;
      if constexpr (kOffsets) offset_buffer[filled] = static_cast<std::uint32_t>(position);
      position += lexeme.length;
    }
    ids.insert(ids.end(), id_buffer, id_buffer + filled);
    if constexpr (kOffsets) offsets->insert(offsets->end(), offset_buffer, offset_buffer + filled);
  }
}

}  // namespace

const std::vector<std::string>& LexemeTokenizer::vocabulary() {
  static const std::vector<std::string> tokens = make_vocabulary();
  return tokens;
}

std::uint32_t LexemeTokenizer::id_of(std::string_view token) {
  const auto id = LexemeTokenizer().token_id(token);
  if (!id)
    fail("the lexeme vocabulary must hold the token that is asked for, but has no \"{}\"", token);
  return *id;
}

std::optional<std::uint32_t> LexemeTokenizer::token_id(std::string_view token) const {
  const auto& tokens = vocabulary();
  const auto found = std::find(tokens.begin(), tokens.end(), token);
  if (found == tokens.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - tokens.begin());
}

void LexemeTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
  run<false>(text, ids, nullptr);
}

void LexemeTokenizer::encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                                          std::vector<std::uint32_t>& offsets) const {
  require_offsets_fit(text);
  run<true>(text, ids, &offsets);
}

std::string LexemeTokenizer::decode(const std::uint32_t* ids, std::size_t count) const {
  const auto& tokens = vocabulary();
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] >= tokens.size())
      fail("an id of the lexeme tokenizer must be below {}, not {}", tokens.size(), ids[i]);
    text += tokens[ids[i]];
  }
  return text;
}

std::uint32_t LexemeTokenizer::vocabulary_size() const {
  return static_cast<std::uint32_t>(vocabulary().size());
}

}  // namespace shellgame
