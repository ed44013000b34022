#include "shellgame/episodes/file_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/system/error.h"
#include "shellgame/system/read_json.h"

namespace shellgame {
namespace {

using QuestionJson = nlohmann::json;

constexpr std::size_t kMostValues = 1 << 16;
constexpr std::uint64_t kMostId = (std::uint64_t{1} << 31) - 1;
constexpr double kSumTolerance = 1e-6;

std::string place_of(const std::string& file, std::size_t line) {
  return fmt::format("{}:{}", file, line);
}

// The line's key, or null where it has none.
const QuestionJson* find(const QuestionJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

// One line on its way to a piece; every refusal names the line.
class FileSource::Reader {
 public:
  Reader(const FileSource& source, const Line& line, Piece& piece)
      : source_(source), where_(place_of(source.file_, line.number)), piece_(piece) {
    piece = Piece();
    const QuestionJson json =
        parse_json(source.content_.substr(line.from, line.size), source.file_, line.number);
    if (!json.is_object()) refuse("a line must be a JSON object");
    const QuestionJson *ids = find(json, "ids"), *text = find(json, "text");
    if ((ids == nullptr) == (text == nullptr)) refuse("a line must have 'ids' or 'text'");
    if (ids != nullptr) {
      piece.ids = ids_of(*ids, "ids");
    } else {
      if (!text->is_string()) refuse("'text' must be a text");
      if (source.tokenizer_ == nullptr) refuse("a line with 'text' needs a tokenizer");
      text_ = text->get<std::string>();
      source.tokenizer_->encode_with_offsets(text_, piece.ids, offsets_);
      is_text_ = true;
    }
    if (piece.ids.empty()) refuse("a line must have tokens");
    const QuestionJson* questions = find(json, "questions");
    if (questions == nullptr || !questions->is_array())
      refuse("a line must have a list 'questions'");
    for (const QuestionJson& question : *questions) add(question);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw InputError(where_, what); }

  std::uint64_t whole(const QuestionJson& value, const std::string& what,
                      std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      refuse(fmt::format("{} must be a whole number from 0 to {}", what, most));
    return value.get<std::uint64_t>();
  }

  std::vector<std::uint32_t> ids_of(const QuestionJson& list, const std::string& what) const {
    if (!list.is_array()) refuse(fmt::format("'{}' must be a list of token ids", what));
    std::vector<std::uint32_t> ids;
    for (const QuestionJson& id : list)
      ids.push_back(static_cast<std::uint32_t>(whole(id, "a token id", kMostId)));
    return ids;
  }

  void add(const QuestionJson& json) {
    if (!json.is_object()) refuse("a question must be a JSON object");
    const QuestionJson *at = find(json, "at"), *values = find(json, "values"),
                       *truth = find(json, "truth"), *shown = find(json, "shown"),
                       *step = find(json, "step"), *belief = find(json, "belief");
    if (at == nullptr || values == nullptr || truth == nullptr)
      refuse("a question must have 'at', 'values' and 'truth'");
    if (!values->is_array() || values->empty() || values->size() > kMostValues)
      refuse(fmt::format("'values' must be a list of 1 to {} values", kMostValues));
    if (shown != nullptr && !shown->is_boolean()) refuse("'shown' must be true or false");
    const bool apart = shown != nullptr && !shown->get<bool>();
    Question question;
    question.value = static_cast<std::uint32_t>(index_of(*truth, *values));
    const std::size_t first =
        is_text_ ? text_values(*at, *values, question.value) : id_values(*at, *values);
    if (first == 0) refuse("a value must have a token before it, which predicts it");
    question.after = first - 1;
    try {
      question.values = &source_.tree_of(values_);
    } catch (const UsageError& error) {
      refuse(error.what());
    }
    if (!apart) {
      const std::vector<std::uint32_t>& tokens = values_[question.value];
      question.length = static_cast<std::uint32_t>(tokens.size());
      if (first + tokens.size() > piece_.ids.size() ||
          !std::equal(tokens.begin(), tokens.end(),
                      piece_.ids.begin() + static_cast<std::ptrdiff_t>(first)))
        refuse("the true value must stand at 'at'");
      const bool ended = first + tokens.size() < piece_.ids.size();
      if (ended) question.end_token = piece_.ids[first + tokens.size()];
      if (!ended && question.values->path(question.value).size() > tokens.size())
        refuse("a value that begins another one must have a token after it");
    } else if (values_[question.value].size() != 1) {
      refuse("a value that is not shown must be one token");
    }
    question.command =
        step != nullptr ? whole(*step, "'step'", kMostId) : piece_.questions.size() + 1;
    if (belief != nullptr) question.belief = belief_of(*belief, question.value);
    if (!piece_.questions.empty() && piece_.questions.back().after >= question.after)
      refuse("questions must come in the order of their places");
    has_belief_.push_back(belief != nullptr);
    piece_.questions.push_back(std::move(question));
  }

  std::size_t index_of(const QuestionJson& truth, const QuestionJson& values) const {
    if (truth.is_string()) {
      const auto found = std::ranges::find(values, truth);
      if (found == values.end()) refuse("'truth' must be one of 'values'");
      return static_cast<std::size_t>(found - values.begin());
    }
    return whole(truth, "'truth'", values.size() - 1);
  }

  std::size_t id_values(const QuestionJson& at, const QuestionJson& values) {
    values_.clear();
    for (const QuestionJson& value : values) {
      if (value.is_array()) {
        values_.push_back(ids_of(value, "values"));
      } else {
        values_.push_back({static_cast<std::uint32_t>(whole(value, "a token id", kMostId))});
      }
    }
    return whole(at, "'at'", piece_.ids.size());
  }

  // The tokens of each value as they are where it stands: in its line of the text.
  std::size_t text_values(const QuestionJson& at, const QuestionJson& values, std::uint32_t truth) {
    const std::size_t byte = whole(at, "'at'", text_.size());
    const auto token = std::ranges::lower_bound(offsets_, static_cast<std::uint32_t>(byte));
    for (const QuestionJson& value : values) {
      if (!value.is_string()) refuse("'values' of a line with text must be texts");
    }
    const std::string true_text = values[truth].get<std::string>();
    if (text_.compare(byte, true_text.size(), true_text) != 0)
      refuse("the true value must stand at 'at'");
    const std::size_t before = byte == 0 ? std::string::npos : text_.rfind('\n', byte - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t end =
        std::min(text_.find('\n', byte + true_text.size()), text_.size() - 1) + 1;
    values_.clear();
    for (const QuestionJson& value : values) {
      const std::string text = value.get<std::string>();
      const std::string line = text_.substr(begin, byte - begin) + text +
                               text_.substr(byte + true_text.size(), end - byte - true_text.size());
      std::vector<std::uint32_t> ids, offsets;
      source_.tokenizer_->encode_with_offsets(line, ids, offsets);
      const auto from = std::ranges::lower_bound(offsets, static_cast<std::uint32_t>(byte - begin));
      const auto to =
          std::ranges::lower_bound(offsets, static_cast<std::uint32_t>(byte - begin + text.size()));
      if (from == offsets.end() || *from != byte - begin || from == to)
        refuse(fmt::format("the value '{}' must begin with a token of its own", text));
      values_.emplace_back(ids.begin() + (from - offsets.begin()),
                           ids.begin() + (to - offsets.begin()));
    }
    return static_cast<std::size_t>(token - offsets_.begin());
  }

  // Empty where the true value has all of it.
  std::vector<double> belief_of(const QuestionJson& list, std::uint32_t truth) const {
    if (!list.is_array() || list.size() != values_.size())
      refuse(fmt::format("'belief' must have a number for each of {} values", values_.size()));
    std::vector<double> belief;
    double sum = 0;
    for (const QuestionJson& number : list) {
      if (!number.is_number() || !(number.get<double>() >= 0))
        refuse("'belief' must have numbers of at least 0");
      belief.push_back(number.get<double>());
      sum += belief.back();
    }
    if (!(std::abs(sum - 1) <= kSumTolerance))
      refuse(fmt::format("a belief must sum to 1, not to {}", sum));
    if (belief[truth] == 0) refuse("a belief must not exclude the true value");
    return belief[truth] == 1 ? std::vector<double>() : belief;
  }

 public:
  const std::vector<bool>& has_belief() const { return has_belief_; }

 private:
  const FileSource& source_;
  std::string where_;
  Piece& piece_;
  bool is_text_ = false;
  std::string text_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::vector<std::uint32_t>> values_;
  std::vector<bool> has_belief_;
};

FileSource::FileSource(const std::string& file, const Tokenizer* tokenizer)
    : file_(file), tokenizer_(tokenizer), mapped_(file), content_(mapped_->bytes()) {
  read_all();
}

FileSource::FileSource(std::string_view content, const std::string& file,
                       const Tokenizer* tokenizer)
    : file_(file), tokenizer_(tokenizer), content_(content) {
  read_all();
}

void FileSource::read_all() {
  const std::string_view all = content_;
  std::size_t number = 1;
  for (std::size_t from = 0; from < all.size(); ++number) {
    const std::size_t end = std::min(all.find('\n', from), all.size());
    const std::string_view line = all.substr(from, end - from);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos)
      lines_.push_back({from, end - from, number});
    from = end + 1;
  }
  if (lines_.empty()) throw InputError(file_, "a file of questions must have a line");
  std::uint64_t questions = 0, with_belief = 0;
  std::map<std::size_t, std::uint64_t> by_values;  // questions by how many values they have
  if (tokenizer_ != nullptr) vocabulary_ = tokenizer_->vocabulary_size();
  Piece piece;
  for (const Line& line : lines_) {
    const Reader reader(*this, line, piece);
    longest_ = std::max<std::uint64_t>(longest_, piece.ids.size());
    for (const std::uint32_t id : piece.ids)
      vocabulary_ = std::max<std::uint64_t>(vocabulary_, id + 1u);
    for (std::size_t i = 0; i < piece.questions.size(); ++i) {
      const Question& question = piece.questions[i];
      ++questions;
      with_belief += reader.has_belief()[i] ? 1 : 0;
      uncertain_ = uncertain_ || !question.belief.empty();
      ++by_values[question.values->values()];
      for (std::uint32_t v = 0; v < question.values->values(); ++v) {
        for (const std::uint32_t id : question.values->tokens(v))
          vocabulary_ = std::max<std::uint64_t>(vocabulary_, id + 1u);
      }
    }
    if (with_belief != 0 && with_belief != questions)
      throw InputError(place_of(file_, line.number),
                       "either all questions of a file must have a 'belief', or none");
  }
  if (questions == 0) throw InputError(file_, "a file of questions must ask one");
  for (const auto& [values, count] : by_values)
    chance_ +=
        static_cast<double>(count) / static_cast<double>(questions) / static_cast<double>(values);
  beliefs_ = with_belief > 0;
}

const ValueTree& FileSource::tree_of(const std::vector<std::vector<std::uint32_t>>& values) const {
  const std::lock_guard lock(mutex_);
  auto& tree = trees_[values];
  if (!tree) {
    try {
      tree = std::make_unique<ValueTree>(values);
    } catch (...) {
      trees_.erase(values);
      throw;
    }
  }
  return *tree;
}

void FileSource::read(std::size_t line, Piece& piece) const { Reader(*this, lines_[line], piece); }

std::unique_ptr<Episode> FileSource::episode(std::uint64_t index) const {
  class OneLine final : public Episode {
   public:
    OneLine(const FileSource& source, std::size_t line) : source_(source), line_(line) {}
    bool next(Piece& piece, std::size_t) override {
      if (given_) return false;
      given_ = true;
      source_.read(line_, piece);
      return true;
    }

   private:
    const FileSource& source_;
    std::size_t line_;
    bool given_ = false;
  };
  return std::make_unique<OneLine>(*this, static_cast<std::size_t>(index % lines_.size()));
}

std::string FileSource::variable_name(std::uint32_t) const { return "value"; }

std::string FileSource::value_name(std::uint32_t value) const {
  return fmt::format("value {}", value);
}

FileData::FileData(std::string file) : file_(std::move(file)) {
  const MappedFile content(file_);
  const std::string_view all = content.bytes();
  const std::size_t first = all.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw InputError(file_, "a file of questions must have a line");
  const auto line = 1 + static_cast<std::size_t>(std::ranges::count(all.substr(0, first), '\n'));
  const QuestionJson json = parse_json(
      all.substr(first, std::min(all.find('\n', first), all.size()) - first), file_, line);
  text_ = json.is_object() && json.contains("text");
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

std::string question_line(const Piece& piece, bool beliefs) {
  nlohmann::ordered_json questions = nlohmann::ordered_json::array();
  for (const Question& question : piece.questions) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (std::uint32_t v = 0; v < question.values->values(); ++v)
      values.push_back(question.values->tokens(v));
    nlohmann::ordered_json one = {{"at", question.after + 1},
                                  {"values", values},
                                  {"truth", question.value},
                                  {"step", question.command}};
    if (question.length == 0) one["shown"] = false;
    if (beliefs) {
      std::vector<double> belief = question.belief;
      if (belief.empty()) {
        belief.resize(question.values->values());
        belief[question.value] = 1;
      }
      one["belief"] = belief;
    }
    questions.push_back(std::move(one));
  }
  return nlohmann::ordered_json({{"ids", piece.ids}, {"questions", questions}}).dump() + "\n";
}

}  // namespace shellgame
