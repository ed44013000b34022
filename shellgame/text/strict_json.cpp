#include "shellgame/text/strict_json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using nlohmann::json;

// The events of nlohmann's parser (which does not recurse) with the path beside them.
class Walk : public nlohmann::json_sax<json> {
 public:
  Walk(const std::string& file, std::string_view what, std::size_t max_depth, JsonVisitor& visitor)
      : file_(file), what_(what), max_depth_(max_depth), visitor_(visitor) {}

  bool null() override {
    visitor_.other(path_);
    return true;
  }
  bool boolean(bool) override {
    visitor_.other(path_);
    return true;
  }
  bool number_integer(json::number_integer_t) override {
    visitor_.other(path_);
    return true;  // it has a minus sign
  }
  bool number_unsigned(json::number_unsigned_t number) override {
    visitor_.whole(path_, number);
    return true;
  }
  bool number_float(json::number_float_t, const std::string&) override {
    visitor_.other(path_);
    return true;
  }
  bool string(std::string& text) override {
    visitor_.text(path_, text);
    return true;
  }
  bool binary(json::binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override {
    visitor_.object(path_);
    return open(true);
  }
  bool key(std::string& name) override {
    if (!open_.back().insert(name).second) {
      throw InputError(
          file_, fmt::format("{} must name each key once, but has '{}' twice", what_, shown(name)));
    }
    path_.back() = name;
    return true;
  }
  bool end_object() override {
    close();
    visitor_.end_object(path_);
    return true;
  }
  bool start_array(std::size_t) override {
    visitor_.array(path_);
    return open(false);
  }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    refuse_syntax(position == 0 ? 0 : position - 1);
  }
  [[noreturn]] void refuse_syntax(std::size_t place) const {
    throw InputError(
        file_,
        fmt::format("{} must be valid JSON in UTF-8, but is not from byte {} on", what_, place));
  }

 private:
  bool open(bool object) {
    if (open_.size() == max_depth_) {
      throw InputError(file_, fmt::format("{} must be nested at most {} deep", what_, max_depth_));
    }
    open_.emplace_back();
    path_.emplace_back(object ? std::string_view() : kElement);
    return true;
  }
  bool close() {
    open_.pop_back();
    path_.pop_back();
    return true;
  }

  const std::string& file_;
  std::string_view what_;
  std::size_t max_depth_;
  JsonVisitor& visitor_;
  JsonPath path_;  // the last part is the current key or element
  std::vector<std::unordered_set<std::string>> open_;  // keys so far of what is around it
};

}  // namespace

void walk_json(std::string_view text, const std::string& file, std::string_view what,
               std::size_t max_depth, JsonVisitor& visitor) {
  Walk walk(file, what, max_depth, visitor);
  // The parser takes a zero byte for the end, and would not see what follows it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    walk.refuse_syntax(zero);
  json::sax_parse(text.begin(), text.end(), &walk);
}

std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 100;
  const bool cut = name.size() > kMost;
  if (cut) {
    std::size_t end = kMost;  // back to the border of a code point
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    name = name.substr(0, end);
  }
  std::string text(name);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return cut ? text + "..." : text;
}

std::string json_text(const std::string& text) { return json(text).dump(); }

}  // namespace shellgame
