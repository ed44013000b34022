// A file of JSON lines as a source: rows of token ids or of text with the places at which a value
// is asked for. This is how execution traces, other people's tasks and labelled text come in, and
// whatever a source can make can be written as such a file (question_rows.h) and read back.
// docs/formats.md has the keys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/episodes/question_reader.h"
#include "shellgame/system/files.h"

namespace shellgame {

class FileSource final : public Source {
 public:
  // Reads the whole file once, line by line, so that a bad line is named at the start: throws
  // InputError with file and line, Error for a line that memory cannot hold. `tokenizer` may be
  // null for a file of ids.
  FileSource(const std::string& file, const Tokenizer* tokenizer);
  // The same of a text that is at hand and outlives the source; `file` is its name in sentences.
  FileSource(std::string_view content, const std::string& file, const Tokenizer* tokenizer);

  // Line `index` modulo the number of lines. A line is the unit of reading: an episode holds the
  // whole of it, and gives it in pieces.
  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  std::uint64_t episodes() const override { return lines_.size(); }
  bool depends_on_seed() const override { return false; }
  std::uint64_t tokens() const override { return longest_; }
  std::uint64_t vocabulary_size() const override { return vocabulary_; }
  std::string name() const override { return reader_.file(); }
  std::vector<Coordinate> axes() const override { return {{"file", reader_.file()}}; }
  std::uint64_t length() const override { return 0; }
  double chance() const override { return chance_; }
  bool has_beliefs() const override { return beliefs_; }
  bool is_certain() const override { return !uncertain_; }
  std::size_t variables() const override { return 0; }
  std::string variable_name(std::uint32_t variable) const override;
  std::string value_name(std::uint32_t value) const override;

 private:
  class LineEpisode;
  struct Line {
    std::size_t from, size, number;
  };
  void find_lines();
  void read_all(const Tokenizer* tokenizer);
  void read(const Line& line, QuestionRow& row) const;

  QuestionReader reader_;
  std::optional<MappedFile> mapped_;
  std::string_view content_;
  std::vector<Line> lines_;
  std::uint64_t longest_ = 1, vocabulary_ = 1;
  double chance_ = 0;
  bool beliefs_ = false, uncertain_ = false;
};

class FileData final : public Data {
 public:
  explicit FileData(std::string file);
  // Whether its first line has text.
  bool is_text() const override { return text_; }
  bool ids_are_text() const override { return text_ || made_by_ != ""; }
  std::string tokenizer() const override { return made_by_.value_or(""); }
  std::unique_ptr<Source> source(const Tokenizer* tokenizer, const SourceOptions&) const override {
    return std::make_unique<FileSource>(file_, tokenizer);
  }

 private:
  std::string file_;
  bool text_ = false;
  std::optional<std::string> made_by_;  // as QuestionRow::tokenizer, of the first line
};

}  // namespace shellgame
