// Cycle notation, "(1 2 3)(4 5)": the text form of Permutation. Points count from 1 in text.
#include <array>
#include <string>

#include "shellgame/groups/permutation.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

class CycleReader {
 public:
  explicit CycleReader(std::string_view text) : text_(text) {
    for (int i = 0; i < kMaxPoints; ++i) images_[static_cast<std::size_t>(i)] = i;
  }

  Permutation read() {
    skip_spaces();
    if (at_end()) refuse("a permutation must be written as cycles, such as (1 2 3)(4 5) or ()");
    while (!at_end()) {
      read_cycle();
      skip_spaces();
    }
    return Permutation::from_images(images_);
  }

 private:
  bool at_end() const { return position_ == text_.size(); }
  bool at_digit() const { return !at_end() && text_[position_] >= '0' && text_[position_] <= '9'; }
  void skip_spaces() {
    while (!at_end() && text_[position_] == ' ') ++position_;
  }

  [[noreturn]] void refuse(std::string_view rule) const {
    wrong_use("In the permutation \"{}\", at character {}: {}.", text_, position_ + 1, rule);
  }

  void read_cycle() {
    if (text_[position_] != '(') refuse("a cycle must start with \"(\"");
    ++position_;
    skip_spaces();
    int first = -1, last = -1;
    while (at_digit()) {
      const int point = read_point();
      if (last >= 0) images_[static_cast<std::size_t>(last)] = point;
      if (first < 0) first = point;
      last = point;
      skip_spaces();
      if (!at_end() && text_[position_] == ',') {
        ++position_;
        skip_spaces();
        if (!at_digit()) refuse("a point must follow the comma");
      }
    }
    if (last >= 0) images_[static_cast<std::size_t>(last)] = first;
    if (at_end() || text_[position_] != ')')
      refuse("a cycle must hold points between 1 and 16 and end with \")\"");
    ++position_;
  }

  int read_point() {
    const std::size_t start = position_;
    int point = 0;
    while (at_digit()) {
      point = point * 10 + (text_[position_] - '0');
      if (point > kMaxPoints) {
        position_ = start;
        refuse("a point must be between 1 and 16");
      }
      ++position_;
    }
    if (point == 0) {
      position_ = start;
      refuse("a point must be between 1 and 16");
    }
    if ((seen_ >> point) & 1u) {
      position_ = start;
      refuse(fmt::format("cycles must be disjoint, but the point {} occurs twice", point));
    }
    seen_ |= 1u << point;
    return point - 1;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::array<int, kMaxPoints> images_{};
  unsigned seen_ = 0;
};

}  // namespace

Permutation Permutation::from_cycles(std::string_view text) { return CycleReader(text).read(); }

std::string Permutation::to_cycles() const {
  if (is_identity()) return "()";
  std::string text;
  for (const auto& cycle : cycles()) {
    text += '(';
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i > 0) text += ' ';
      text += std::to_string(cycle[i] + 1);
    }
    text += ')';
  }
  return text;
}

}  // namespace shellgame
