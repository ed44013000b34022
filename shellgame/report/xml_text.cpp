#include "shellgame/report/xml_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

// The length of the UTF-8 character at `at`, 0 if there is none that XML allows.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) return 0;
  unsigned code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool allowed = code <= 0x10FFFF && (code & 0xFFFE) != 0xFFFE && code >= 0xA0;
  return overlong || surrogate || !allowed ? 0 : length;
}

std::string with_commas(const std::string& digits) {
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    switch (text[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-4) return fmt::format("{:.2e}", value);
  if (size < 10) return fmt::format("{:.4f}", value);
  if (size < 1000) return fmt::format("{:.2f}", value);
  if (size < 1e15) return with_commas(fmt::format("{:.0f}", value));
  return fmt::format("{:.4g}", value);
}

std::string tick_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string short_value(const Json& value) {
  if (value.is_number_integer()) return with_commas(value.dump());
  if (value.is_number()) return value == 0.0 ? "0.0000" : short_number(value.get<double>());
  if (value.is_array()) {
    std::string out;
    for (const Json& item : value) out += (out.empty() ? "" : ", ") + short_value(item);
    return "[" + out + "]";
  }
  return exact_value(value);
}

std::string exact_value(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double number_of(const Json& object, const std::string& key) {
  if (!object.is_object()) return std::numeric_limits<double>::quiet_NaN();
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return found->get<double>();
}

std::string text_of(const Json& object, const std::string& key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

}  // namespace shellgame
