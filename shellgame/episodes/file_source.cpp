#include "shellgame/episodes/file_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

// What a byte of a line needs while it is read: a list of ids, each a digit and a comma, is a tree
// of 16 bytes a number, which grows by doubling.
constexpr std::uint64_t kMemoryOfByte = 32;

}  // namespace

// A line is read whole, and goes on in pieces.
class FileSource::LineEpisode final : public Episode {
 public:
  LineEpisode(const FileSource& source, const Line& line) : source_(source), line_(line) {}

  bool next(Piece& piece, std::size_t tokens) override {
    if (!read_) source_.read(line_, row_);
    read_ = true;
    piece = Piece();
    const std::vector<std::uint32_t>& ids = row_.piece.ids;
    if (from_ == ids.size()) return false;
    std::size_t to = from_ + std::clamp<std::size_t>(tokens, 1, ids.size() - from_);
    std::vector<Question>& questions = row_.piece.questions;
    for (; asked_ < questions.size() && questions[asked_].after < to; ++asked_) {
      Question& question = questions[asked_];
      // Up to the token after the value.
      const std::size_t last = question.after + (question.length > 0 ? question.length + 1u : 0u);
      to = std::max(to, std::min(ids.size(), last + 1));
      question.after -= from_;
      piece.questions.push_back(std::move(question));
    }
    piece.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(from_),
                     ids.begin() + static_cast<std::ptrdiff_t>(to));
    from_ = to;
    return true;
  }

 private:
  const FileSource& source_;
  const Line& line_;
  QuestionRow row_;
  bool read_ = false;
  std::size_t from_ = 0, asked_ = 0;  // tokens and questions that were given
};

FileSource::FileSource(const std::string& file, const Tokenizer* tokenizer)
    : reader_(file, tokenizer), mapped_(file), content_(mapped_->bytes()) {
  read_all(tokenizer);
}

FileSource::FileSource(std::string_view content, const std::string& file,
                       const Tokenizer* tokenizer)
    : reader_(file, tokenizer), content_(content) {
  read_all(tokenizer);
}

void FileSource::read_all(const Tokenizer* tokenizer) {
  find_lines();
  std::uint64_t questions = 0, with_belief = 0;
  std::map<std::size_t, std::uint64_t> by_values;  // questions by how many values they have
  if (tokenizer != nullptr) vocabulary_ = tokenizer->vocabulary_size();
  std::optional<std::string> made_by;  // the tokenizer that the first line names
  QuestionRow row;
  for (const Line& line : lines_) {
    read(line, row);
    longest_ = std::max<std::uint64_t>(longest_, row.piece.ids.size());
    for (const std::uint32_t id : row.piece.ids)
      vocabulary_ = std::max<std::uint64_t>(vocabulary_, id + 1u);
    for (const Question& question : row.piece.questions) {
      uncertain_ = uncertain_ || !question.belief.empty();
      ++by_values[question.values->values()];
      for (std::uint32_t v = 0; v < question.values->values(); ++v) {
        for (const std::uint32_t id : question.values->tokens(v))
          vocabulary_ = std::max<std::uint64_t>(vocabulary_, id + 1u);
      }
    }
    questions += row.has_belief.size();
    with_belief += static_cast<std::uint64_t>(std::ranges::count(row.has_belief, true));
    const std::string place = place_of_line(name(), line.number);
    if (with_belief != 0 && with_belief != questions)
      throw InputError(place, "either all questions of a file must have a 'belief', or none");
    if (&line == &lines_.front()) made_by = row.tokenizer;
    if (made_by != row.tokenizer)
      throw InputError(place, "all lines of a file must name the same 'tokenizer', or none");
  }
  if (questions == 0) throw InputError(name(), "a file of questions must ask one");
  for (const auto& [values, count] : by_values)
    chance_ +=
        static_cast<double>(count) / static_cast<double>(questions) / static_cast<double>(values);
  beliefs_ = with_belief > 0;
}

namespace {

// Memory for a line that is read whole, before it is.
void require_line(std::size_t bytes, std::size_t number, const std::string& file) {
  require_memory(
      saturating_multiply<std::uint64_t>(bytes, kMemoryOfByte),
      fmt::format("line {} of '{}', which has {} bytes and is read whole,", number, file, bytes));
}

}  // namespace

void FileSource::find_lines() {
  const std::string_view all = content_;
  std::size_t number = 1, longest = 0;
  for (std::size_t from = 0; from < all.size(); ++number) {
    const std::size_t end = std::min(all.find('\n', from), all.size());
    const std::string_view line = all.substr(from, end - from);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      lines_.push_back({from, end - from, number});
      if (end - from > lines_[longest].size) longest = lines_.size() - 1;
    }
    from = end + 1;
  }
  if (lines_.empty()) throw InputError(name(), "a file of questions must have a line");
  require_line(lines_[longest].size, lines_[longest].number, name());
}

void FileSource::read(const Line& line, QuestionRow& row) const {
  reader_.read(content_.substr(line.from, line.size), line.number, row);
}

std::unique_ptr<Episode> FileSource::episode(std::uint64_t index) const {
  return std::make_unique<LineEpisode>(*this, lines_[index % lines_.size()]);
}

std::string FileSource::variable_name(std::uint32_t) const { return "value"; }

std::string FileSource::value_name(std::uint32_t value) const {
  return fmt::format("value {}", value);
}

FileData::FileData(std::string file) : file_(std::move(file)) {
  const MappedFile mapped(file_);
  const std::string_view all = mapped.bytes();
  const std::size_t first = all.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw InputError(file_, "a file of questions must have a line");
  const auto line = 1 + static_cast<std::size_t>(std::ranges::count(all.substr(0, first), '\n'));
  const std::string_view content =
      all.substr(first, std::min(all.find('\n', first), all.size()) - first);
  require_line(content.size(), line, file_);
  const nlohmann::json json = parse_json(content, file_, line);
  text_ = json.is_object() && json.contains("text");
  made_by_ = tokenizer_of_line(json, place_of_line(file_, line));
}

DataKind file_kind() {
  return {.name = "file",
          .summary = "rows of a file of questions (docs/formats.md)",
          .keys = {{.name = "file",
                    .form = "FILE",
                    .help = "JSON lines of text or ids with questions",
                    .usual = "",
                    .is_file = true}},
          .axes = {},
          .make = [](const DataSettings& settings) -> SharedData {
            const auto file = settings.find("file");
            if (file == settings.end() || file->second.empty())
              wrong_use("data of the kind 'file' must name their file");
            return std::make_shared<FileData>(file->second);
          }};
}

}  // namespace shellgame
