#include "shellgame/episodes/question_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

using QuestionJson = nlohmann::json;

constexpr std::size_t kMostValues = 1 << 16;
constexpr std::uint64_t kMostId = (std::uint64_t{1} << 31) - 1;
constexpr double kSumTolerance = 1e-6;

// The object's key, or null where it has none.
const QuestionJson* find(const QuestionJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

}  // namespace

std::string place_of_line(const std::string& file, std::size_t line) {
  return fmt::format("{}:{}", file, line);
}

std::optional<std::string> tokenizer_of_line(const nlohmann::json& json, const std::string& place) {
  const QuestionJson* named = json.is_object() ? find(json, "tokenizer") : nullptr;
  if (named == nullptr) return std::nullopt;
  if (named->is_null()) return "";
  if (!named->is_string() || named->get_ref<const std::string&>().empty())
    throw InputError(place,
                     "'tokenizer' must be a name, a path, or null where ids stand for no text");
  return named->get<std::string>();
}

// One line on its way to a piece; every refusal names the line.
class QuestionReader::Line {
 public:
  Line(const QuestionReader& reader, std::string_view content, std::size_t number, QuestionRow& row)
      : reader_(reader), where_(place_of_line(reader.file_, number)), row_(row), piece_(row.piece) {
    row = QuestionRow();
    const QuestionJson json = parse_json(content, reader.file_, number);
    if (!json.is_object()) refuse("a line must be a JSON object");
    const QuestionJson *ids = find(json, "ids"), *text = find(json, "text");
    if ((ids == nullptr) == (text == nullptr)) refuse("a line must have 'ids' or 'text'");
    row.tokenizer = tokenizer_of_line(json, where_);
    if (ids != nullptr) {
      piece_.ids = ids_of(*ids, "ids");
    } else {
      if (row.tokenizer) refuse("a line with 'text' is for any tokenizer and must name none");
      if (!text->is_string()) refuse("'text' must be a text");
      if (reader.tokenizer_ == nullptr) refuse("a line with 'text' needs a tokenizer");
      text_ = text->get<std::string>();
      reader.tokenizer_->encode_with_offsets(text_, piece_.ids, offsets_);
      is_text_ = true;
    }
    if (piece_.ids.empty()) refuse("a line must have tokens");
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
      question.values = &reader_.tree_of(values_);
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
    row_.has_belief.push_back(belief != nullptr);
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
      reader_.tokenizer_->encode_with_offsets(line, ids, offsets);
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

  const QuestionReader& reader_;
  std::string where_;
  QuestionRow& row_;
  Piece& piece_;  // the row's
  bool is_text_ = false;
  std::string text_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::vector<std::uint32_t>> values_;
};

void QuestionReader::read(std::string_view text, std::size_t line, QuestionRow& row) const {
  Line(*this, text, line, row);
}

const ValueTree& QuestionReader::tree_of(
    const std::vector<std::vector<std::uint32_t>>& values) const {
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

}  // namespace shellgame
