// The settings of a part of a model: a JSON object whose values are read by name and kind. What is
// missing or of the wrong kind gives an InputError that names the key and the file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

class Options {
 public:
  using Json = nlohmann::json;

  Options() = default;
  // `where` is named in errors, e.g. "model/config.json".
  Options(Json values, std::string where);

  // Present and not null.
  bool has(const std::string& key) const;
  std::int64_t integer(const std::string& key) const;
  // At least 1.
  std::int64_t size(const std::string& key) const;
  // JSON has no infinity; flash-linear-attention writes {"__float__": "Infinity"}.
  double number(const std::string& key) const;
  bool flag(const std::string& key) const;
  std::string word(const std::string& key) const;
  // One of `words`.
  std::string word(const std::string& key, const std::vector<std::string>& words) const;
  std::vector<std::int64_t> integers(const std::string& key) const;

  std::int64_t size_or(const std::string& key, std::int64_t fallback) const;
  double number_or(const std::string& key, double fallback) const;
  bool flag_or(const std::string& key, bool fallback) const;
  std::string word_or(const std::string& key, const std::string& fallback) const;

  // A copy in which some keys are set.
  Options with(const Json& changes) const;

  const Json& json() const { return values_; }
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(const std::string& sentence) const;

 private:
  const Json& at(const std::string& key) const;

  Json values_ = Json::object();
  std::string where_ = "config.json";
};

}  // namespace shellgame
