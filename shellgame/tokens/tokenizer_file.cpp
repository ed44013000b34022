#include "shellgame/tokens/tokenizer_file.h"

#include <algorithm>

#include "shellgame/text/error.h"
#include "shellgame/tokens/json_field.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}
  TokenizerFile file;

  bool null() override { return value(nullptr); }
  bool boolean(bool b) override { return value(b); }
  bool number_integer(number_integer_t n) override { return value(n); }
  bool number_float(number_float_t n, const string_t&) override { return value(n); }
  bool binary(binary_t&) override { return value(nullptr); }
  bool number_unsigned(number_unsigned_t n) override {
    if (mode_ != Mode::kVocabulary) return value(n);
    if (n > kMaxTokenId)
      refuse("model.vocab", fmt::format("an id of at most {} for \"{}\"", kMaxTokenId, last_token_),
             n);
    file.ids.push_back(static_cast<std::uint32_t>(n));
    return true;
  }
  bool string(string_t& text) override {
    if (mode_ == Mode::kMergePair) {
      file.merges.add(text);
      if (++parts_ > 2) refuse("model.merges", "pairs", "a longer array");
      return true;
    }
    if (mode_ == Mode::kMerges) return merge_line(text);
    return value(std::move(text));
  }

  bool key(string_t& key) override {
    if (mode_ == Mode::kVocabulary) {
      file.tokens.add(key);
      last_token_ = std::move(key);
      return true;
    }
    if (open_.size() == 1) top_key_ = key;
    key_ = std::move(key);
    if (open_.back()->contains(key_)) refuse(key_, "there once", "there twice in one object");
    return true;
  }

  bool start_object(std::size_t) override {
    if (is_model_key("vocab")) {
      file.has_vocabulary = claim("vocab");
      mode_ = Mode::kVocabulary;
      return true;
    }
    return open(Json::object());
  }
  bool end_object() override { return close(); }

  bool start_array(std::size_t) override {
    if (mode_ == Mode::kMerges) {
      mode_ = Mode::kMergePair;
      parts_ = 0;
      return true;
    }
    if (is_model_key("merges")) {
      file.has_merges = claim("merges");
      mode_ = Mode::kMerges;
      return true;
    }
    return open(Json::array());
  }
  bool end_array() override {
    if (mode_ == Mode::kMergePair) {
      if (parts_ != 2) refuse("model.merges", "pairs", fmt::format("an array of {}", parts_));
      mode_ = Mode::kMerges;
      return true;
    }
    return close();
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, position == 0 ? 0 : position - 1);
    const std::size_t newline = before.rfind('\n');
    throw InputError(
        fmt::format("{}:{}:{}", name_, 1 + std::count(before.begin(), before.end(), '\n'),
                    before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1),
        "the file must be JSON in UTF-8, but here it is not");
  }

 private:
  enum class Mode { kRest, kVocabulary, kMerges, kMergePair };
  static constexpr std::size_t kMaxDepth = 32;

  template <class What>
  [[noreturn]] void refuse(const std::string& key, const std::string& must, const What& what) {
    throw InputError(name_, fmt::format("{} must be {}, not {}", key, must, what));
  }

  bool is_model_key(std::string_view key) const {
    return mode_ == Mode::kRest && open_.size() == 2 && top_key_ == "model" && key_ == key &&
           open_.back()->is_object();
  }
  // Leaves a mark in the tree, so that the key is known to be there.
  bool claim(const char* key) {
    (*open_.back())[key] = true;
    return true;
  }

  bool merge_line(const std::string& line) {
    if (line.rfind("#version", 0) == 0) return true;  // a comment, as in the library
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      refuse("model.merges", "made of two parts and one space between them", Json(line).dump());
    file.merges.add(std::string_view(line).substr(0, space));
    file.merges.add(std::string_view(line).substr(space + 1));
    return true;
  }

  Json* add(Json value) {
    if (mode_ == Mode::kVocabulary)
      refuse("model.vocab", fmt::format("an id for \"{}\"", last_token_), value.dump());
    if (mode_ != Mode::kRest) refuse("model.merges", "strings or pairs of strings", value.dump());
    if (open_.empty()) {
      file.rest = std::move(value);
      return &file.rest;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool value(Json value) {
    add(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      refuse("the file", fmt::format("nested at most {} deep", kMaxDepth), "deeper");
    open_.push_back(add(std::move(container)));
    return true;
  }
  bool close() {
    if (mode_ == Mode::kRest) {
      open_.pop_back();
    } else {
      mode_ = Mode::kRest;
    }
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  Mode mode_ = Mode::kRest;
  std::vector<Json*> open_;  // the containers around the place that is read
  std::string key_, top_key_, last_token_;
  int parts_ = 0;
};

}  // namespace

TokenizerFile read_tokenizer_file(std::string_view json, const std::string& name) {
  Reader reader(json, name);
  Json::sax_parse(json.begin(), json.end(), &reader);
  return std::move(reader.file);
}

}  // namespace shellgame
