// A line of a file of questions (docs/formats.md), read: token ids or text, with the places at
// which a value is asked for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/episodes/source.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

struct QuestionRow {
  Piece piece;
  std::vector<bool> has_belief;  // of each question
  // What made the ids, as open_tokenizer() takes it: empty where they are no text, nothing where
  // the line does not say.
  std::optional<std::string> tokenizer;
};

class QuestionReader {
 public:
  // `file` is its name in sentences. `tokenizer` may be null where no line has text; it must
  // outlive the reader, and the reader the pieces.
  QuestionReader(std::string file, const Tokenizer* tokenizer)
      : file_(std::move(file)), tokenizer_(tokenizer) {}

  // Replaces what `row` held. Safe from several threads. Throws InputError, which names the line.
  void read(std::string_view text, std::size_t line, QuestionRow& row) const;
  const std::string& file() const { return file_; }

 private:
  class Line;
  // Questions with the same values share their tree.
  const ValueTree& tree_of(const std::vector<std::vector<std::uint32_t>>& values) const;

  std::string file_;
  const Tokenizer* tokenizer_;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::vector<std::uint32_t>>, std::unique_ptr<ValueTree>> trees_;
};

// "file:3", as sentences about a line name it.
std::string place_of_line(const std::string& file, std::size_t line);

// The line's "tokenizer", as QuestionRow has it; `json` is the line. Throws InputError.
std::optional<std::string> tokenizer_of_line(const nlohmann::json& json, const std::string& place);

}  // namespace shellgame
