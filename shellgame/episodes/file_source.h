// A file of JSON lines as a source: rows of token ids or of text with the places at which a value
// is asked for. This is how execution traces, other people's tasks and labelled text come in, and
// whatever a source can make can be written as such a file and read back. docs/formats.md has the
// keys.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/episodes/data.h"
#include "shellgame/system/files.h"

namespace shellgame {

class FileSource final : public Source {
 public:
  // Reads the whole file once, so that a bad line is named at the start: throws InputError with
  // file and line. `tokenizer` may be null for a file of ids.
  FileSource(const std::string& file, const Tokenizer* tokenizer);
  // The same of a text that is at hand and outlives the source; `file` is its name in sentences.
  FileSource(std::string_view content, const std::string& file, const Tokenizer* tokenizer);

  // Line `index` modulo the number of lines.
  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  std::uint64_t episodes() const override { return lines_.size(); }
  bool depends_on_seed() const override { return false; }
  std::uint64_t tokens() const override { return longest_; }
  std::uint64_t vocabulary_size() const override { return vocabulary_; }
  std::string name() const override { return file_; }
  std::vector<Coordinate> axes() const override { return {{"file", file_}}; }
  std::uint64_t length() const override { return 0; }
  double chance() const override { return chance_; }
  bool has_beliefs() const override { return beliefs_; }
  bool is_certain() const override { return !uncertain_; }
  std::size_t variables() const override { return 0; }
  std::string variable_name(std::uint32_t variable) const override;
  std::string value_name(std::uint32_t value) const override;

 private:
  class Reader;
  void read(std::size_t line, Piece& piece) const;
  const ValueTree& tree_of(const std::vector<std::vector<std::uint32_t>>& values) const;

  void read_all();

  std::string file_;
  const Tokenizer* tokenizer_;
  std::optional<MappedFile> mapped_;
  std::string_view content_;
  struct Line {
    std::size_t from, size, number;
  };
  std::vector<Line> lines_;
  std::uint64_t longest_ = 1, vocabulary_ = 1;
  double chance_ = 0;
  bool beliefs_ = false, uncertain_ = false;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::vector<std::uint32_t>>, std::unique_ptr<ValueTree>> trees_;
};

class FileData final : public Data {
 public:
  explicit FileData(std::string file);
  // Whether its first line has text.
  bool is_text() const override { return text_; }
  std::unique_ptr<Source> source(const Tokenizer* tokenizer, const SourceOptions&) const override {
    return std::make_unique<FileSource>(file_, tokenizer);
  }

 private:
  std::string file_;
  bool text_ = false;
};

// A whole episode as a line of such a file, with ids; what is certain is a belief of 1 if
// `beliefs`.
std::string question_line(const Piece& piece, bool beliefs);

}  // namespace shellgame
