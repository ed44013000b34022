#include "shellgame/tokens/json_field.h"

#include <algorithm>

#include "shellgame/text/error.h"

namespace shellgame {

void JsonField::refuse(std::string_view must_be) const {
  constexpr std::size_t kShown = 80;
  std::string shown = value_->dump(-1, ' ', true);  // escapes keep it ASCII, so it can be cut
  if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
  throw InputError(file_, fmt::format("{} must be {}, not {}", path_, must_be, shown));
}

void JsonField::wrong(const std::string& sentence) const {
  throw InputError(file_, fmt::format("{} {}", path_, sentence));
}

bool JsonField::has(std::string_view key) const {
  if (!value_->is_object()) refuse("an object");
  return value_->contains(key);
}

std::optional<JsonField> JsonField::find(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return JsonField(value_->at(std::string(key)), file_,
                   path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

JsonField JsonField::at(std::string_view key) const {
  if (auto field = find(key)) return *std::move(field);
  wrong(fmt::format("must have the key \"{}\"", key));
}

std::vector<JsonField> JsonField::items() const {
  if (!value_->is_array()) refuse("an array");
  std::vector<JsonField> fields;
  for (std::size_t i = 0; i < value_->size(); ++i)
    fields.emplace_back((*value_)[i], file_, fmt::format("{}[{}]", path_, i));
  return fields;
}

std::vector<std::pair<std::string, JsonField>> JsonField::entries() const {
  if (!value_->is_object()) refuse("an object");
  std::vector<std::pair<std::string, JsonField>> fields;
  for (const auto& [key, value] : value_->items())
    fields.emplace_back(key, JsonField(value, file_, fmt::format("{}.{}", path_, key)));
  return fields;
}

std::string JsonField::text() const {
  if (!value_->is_string()) refuse("a string");
  return value_->get<std::string>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::uint32_t JsonField::id() const {
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() > kMaxTokenId)
    refuse(fmt::format("a whole number from 0 to {}", kMaxTokenId));
  return static_cast<std::uint32_t>(value_->get<std::uint64_t>());
}

bool JsonField::boolean_or(std::string_view key, bool otherwise) const {
  const auto field = find(key);
  return field ? field->boolean() : otherwise;
}

void JsonField::allow_keys(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, field] : entries())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      field.refuse("absent, because it is not understood here");
}

}  // namespace shellgame
