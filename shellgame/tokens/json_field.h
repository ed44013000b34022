// A value of a JSON file together with its path ("model.vocab"), so that every refusal can name the
// key and the value.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

class JsonField {
 public:
  JsonField(const nlohmann::json& value, std::string file, std::string path)
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

  // Throws InputError: "PATH must be WHAT, not VALUE".
  [[noreturn]] void refuse(std::string_view must_be) const;
  // Throws InputError with a sentence of the caller's.
  [[noreturn]] void wrong(const std::string& sentence) const;

  bool is_null() const { return value_->is_null(); }
  bool is_null_or_zero() const { return is_null() || *value_ == 0; }
  bool has(std::string_view key) const;
  JsonField at(std::string_view key) const;  // of an object; must be there
  std::optional<JsonField> find(std::string_view key) const;
  std::vector<JsonField> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonField>> entries() const;  // of an object
  std::string text() const;
  bool boolean() const;
  std::uint32_t id() const;  // a whole number from 0 to kMaxTokenId

  bool boolean_or(std::string_view key, bool otherwise) const;
  // The field "type" of a component.
  std::string type() const { return at("type").text(); }
  // Refuses keys that are not named: a key that is not understood could change the ids.
  void allow_keys(std::initializer_list<std::string_view> keys) const;

  const std::string& path() const { return path_; }
  const std::string& file() const { return file_; }

 private:
  const nlohmann::json* value_;
  std::string file_, path_;
};

// Ids beyond this are refused: tables have one entry for each id.
inline constexpr std::uint32_t kMaxTokenId = (1u << 24) - 1;

}  // namespace shellgame
