#include "shellgame/report/table_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct Place {
  std::string field, format, how = "each";
};

Place place_of(const std::string& text) {
  Place place;
  const std::size_t bar = text.find('|');
  if (bar != std::string::npos) place.how = text.substr(bar + 1);
  const std::string front = text.substr(0, bar);
  const std::size_t colon = front.find(':');
  place.field = front.substr(0, colon);
  if (colon != std::string::npos) place.format = front.substr(colon + 1);
  return place;
}

double real_number(std::string_view text, const std::string& format) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0)
    wrong_use(
        "a number's format must be '.N', '0.N', 'd' or 'eN', with '/NUMBER' or '*NUMBER', not '{}'",
        format);
  return value;
}

std::string with_commas(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string number_text(double value, const std::string& form, const std::string& format) {
  if (form == "d") return with_commas(fmt::format("{:.0f}", value));
  const bool bare = form.starts_with('.'), fixed = form.starts_with("0.");
  const std::size_t skip = fixed ? 2 : 1;
  if ((!bare && !fixed && !form.starts_with('e')) || form.size() != skip + 1 ||
      std::isdigit(static_cast<unsigned char>(form[skip])) == 0)
    real_number("", format);
  const int digits = form[skip] - '0';
  if (form[0] == 'e') {
    std::string text = fmt::format("{:.{}e}", value, digits);
    const std::size_t e = text.find('e');
    std::string power = text.substr(e + 1);
    if (power.starts_with('+')) power.erase(0, 1);
    const std::size_t first = power.starts_with('-') ? 1 : 0;
    while (power.size() > first + 1 && power[first] == '0') power.erase(first, 1);
    return text.substr(0, e + 1) + power;
  }
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-')) text.erase(0, 1);
  const std::size_t zero = text.starts_with('-') ? 1 : 0;
  if (bare && digits > 0 && text[zero] == '0') text.erase(zero, 1);
  return text;
}

std::string value_text(const Json& value, const std::string& format) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return format_table_number(value, format);
  // {trained} is said in words.
  std::string text = value.is_object() ? trained_words(trained_of(value)) : "";
  if (text.empty()) text = value.is_string() ? value.get<std::string>() : value.dump();
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::vector<Json> values_in(const std::vector<TableRecord>& records, const std::string& field) {
  std::vector<Json> values;
  std::set<const Json*> taken;
  for (const TableRecord& record : records) {
    const auto [value, part] = record.find(field);
    if (value != nullptr && taken.insert(part.get()).second) values.push_back(*value);
  }
  if (values.empty())
    wrong_use("a field of a table must be in its records, and '{}' is not", field);
  return values;
}

std::vector<double> numbers_of(const std::vector<Json>& values, const Place& place) {
  std::vector<double> numbers;
  for (const Json& value : values) {
    if (value.is_null()) continue;
    if (!value.is_number())
      wrong_use("'{}' must be numbers for '|{}', not {}", place.field, place.how, value.dump());
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

std::string joined(const std::vector<Json>& values, const std::string& format) {
  std::string text;
  for (const Json& value : values) {
    const std::string one = value_text(value, format);
    text += (text.empty() || one.empty() ? "" : " ") + one;
  }
  return text;
}

std::string summary_text(const Place& place, const std::vector<Json>& values) {
  const std::vector<double> numbers = numbers_of(values, place);
  if (numbers.empty()) return "";
  const auto [least, most] = std::ranges::minmax(numbers);
  // A whole number's own format, where all are whole.
  const bool whole = std::ranges::all_of(
      values, [](const Json& value) { return value.is_null() || value.is_number_integer(); });
  const std::string format = place.format.empty() && whole ? "d" : place.format;
  const auto text = [&](double value) { return format_table_number(value, format); };
  if (place.how == "min") return text(least);
  if (place.how == "max") return text(most);
  if (place.how == "range")
    return text(least) == text(most) ? text(least) : text(least) + " to " + text(most);
  double mean = 0, squares = 0;
  for (const double number : numbers) mean += number / static_cast<double>(numbers.size());
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  if (place.how == "mean") return text(mean);
  if (place.how == "spread")
    return fmt::format(
        "{} ± {}", text(mean),
        text(numbers.size() < 2 ? 0
                                : std::sqrt(squares / static_cast<double>(numbers.size() - 1))));
  wrong_use(
      "values must be shown by each, range, mean, min, max, spread, same, count or size, not '{}'",
      place.how);
}

std::string place_text(const Place& place, const std::vector<TableRecord>& records,
                       const std::vector<std::string>& once) {
  const std::vector<Json> values = values_in(records, place.field);
  if (place.how == "each" && std::ranges::find(once, place.field) == once.end())
    return joined(values, place.format);
  if (place.how == "each") return value_text(values[0], place.format);
  if (place.how == "count") return std::to_string(values.size());
  if (place.how == "size") {
    std::vector<Json> sizes;
    for (const Json& value : values) sizes.emplace_back(value.size());
    return joined(sizes, place.format);
  }
  if (place.how == "same") {
    for (const Json& value : values) {
      if (value != values[0])
        wrong_use("'{}' must be the same in all records of a cell, not {} and {}", place.field,
                  values[0].dump(), value.dump());
    }
    return value_text(values[0], place.format);
  }
  return summary_text(place, values);
}

}  // namespace

std::string format_table_number(const Json& value, const std::string& format) {
  const std::size_t unit = format.find_first_of("/*");
  double number = value.get<double>();
  if (unit != std::string::npos) {
    const double factor = real_number(std::string_view(format).substr(unit + 1), format);
    number = format[unit] == '/' ? number / factor : number * factor;
  }
  const std::string form = format.substr(0, unit);
  return number_text(number, !form.empty() ? form : value.is_number_integer() ? "d" : ".3", format);
}

std::string fill_template(const std::string& text, const std::vector<TableRecord>& records,
                          const std::vector<std::string>& once) {
  if (records.empty()) return "";
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size());
    filled += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos)
      wrong_use("a '{{' of a table's text must have its '}}': '{}'", text);
    filled += place_text(place_of(text.substr(open + 1, close - open - 1)), records, once);
    at = close + 1;
  }
  return filled;
}

}  // namespace shellgame
