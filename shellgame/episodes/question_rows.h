// Whatever a source can make as a file of questions (docs/formats.md), which kind `file` reads
// back.
//
//   write_questions(source, {.count = 100, .tokenizer = &tokenizer},
//                   [&](std::uint64_t, std::string_view line) { file.write(line); });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shellgame/episodes/data.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

// A whole episode as a line with ids. With `beliefs` every question has one, 1 for what is certain.
// `made_by`: the tokenizer of the ids; empty where they stand for no text, nothing where it is not
// known.
std::string question_line(const Piece& piece, bool beliefs,
                          const std::optional<std::string>& made_by = "");

struct QuestionRows {
  std::uint64_t first = 0, count = 1;       // episodes; of a source that ends, those that it has
  const Tokenizer* tokenizer = nullptr;     // of data that are text
  std::optional<std::string> made_by = "";  // the ids of data that are none: as question_line()
};
// Rows are made side by side and come in their order. Gives their number. Throws Error, before any
// is made, if memory cannot hold some of them.
std::uint64_t write_questions(
    const Source& source, const QuestionRows& rows,
    const std::function<void(std::uint64_t row, std::string_view line)>& take);

// Where a row is from: `row` of the data with this number, `index` in all.
struct QuestionPlace {
  std::size_t data = 0;
  std::uint64_t row = 0, index = 0;
};
// The rows of several data one after the other, with one numbering; `rows` count in it. The
// tokenizer is used where data are text.
std::uint64_t write_questions(
    std::span<const SharedData> data, std::uint64_t seed, const QuestionRows& rows,
    const std::function<void(const QuestionPlace& place, std::string_view line)>& take);

}  // namespace shellgame
