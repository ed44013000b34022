// Numbers that people give, on command lines and in files: what each may be is declared once,
// beside its option or key, as NumberBounds. The same declaration reads it, refuses what is
// outside, and is shown in help texts; `shellgame help --numbers` lists them all, so that a test
// can try the ends of every one.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shellgame {

class NumberBounds {
 public:
  // Both ends are allowed. Whole numbers are compared as such: 2^64 - 1 is not rounded.
  static constexpr NumberBounds whole(std::int64_t minimum, std::uint64_t maximum) {
    NumberBounds bounds;
    bounds.least_ = minimum;
    bounds.most_ = maximum;
    return bounds;
  }
  // Never takes nan; takes infinity only if it is an end.
  static constexpr NumberBounds real(double minimum, double maximum) {
    NumberBounds bounds;
    bounds.whole_ = false;
    bounds.low_ = minimum;
    bounds.high_ = maximum;
    return bounds;
  }

  bool is_whole() const { return whole_; }
  // "from 1 to 1000000"; "of at least 0" where there is no upper end.
  std::string range() const;
  // "a whole number from 1 to 1000000".
  std::string in_words() const;
  // The ends as text; "inf" where there is none.
  std::string minimum() const;
  std::string maximum() const;

  // Whether the whole text is such a number: decimal, no blanks, no sign but '-'.
  bool accepts(std::string_view text) const;
  // Empty, or what is wrong: "--count must be a whole number from 0 to 9, not 'x'".
  std::string check(std::string_view name, std::string_view text) const;

  // Whether a type holds every such number; asked where a number is declared.
  template <class Number>
  bool fit() const {
    if constexpr (std::floating_point<Number>) {
      return !whole_;
    } else {
      return whole_ && std::in_range<Number>(least_) && std::in_range<Number>(most_);
    }
  }
  // The number. Throws UsageError with the sentence of check().
  template <class Number>
  Number parse(std::string_view name, std::string_view text) const {
    if constexpr (std::floating_point<Number>) {
      return static_cast<Number>(parse_real(name, text));
    } else {
      return static_cast<Number>(parse_whole(name, text));
    }
  }

 private:
  std::uint64_t parse_whole(std::string_view name, std::string_view text) const;
  double parse_real(std::string_view name, std::string_view text) const;

  bool whole_ = true;
  std::int64_t least_ = 0;
  std::uint64_t most_ = 0;
  double low_ = 0, high_ = 0;
};

// The most that may be asked of one kind, wherever it is asked.
inline constexpr std::uint64_t kMostUnsigned = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kMostSigned = kMostUnsigned >> 1;
inline constexpr NumberBounds kSeedBounds = NumberBounds::whole(0, kMostUnsigned);
// Seeds of evaluation and of TOML files.
inline constexpr NumberBounds kSmallSeedBounds = NumberBounds::whole(0, kMostSigned);
// Of samples: an index and a count have a sum below 2^64.
inline constexpr NumberBounds kIndexBounds = NumberBounds::whole(0, kMostSigned);
inline constexpr NumberBounds kCountBounds = NumberBounds::whole(0, kMostSigned);
// Commands of a trace, and symbols: more than anybody can wait for, and products with the size of a
// command stay far below 2^64.
inline constexpr std::uint64_t kMostCommands = 1'000'000'000'000;
inline constexpr NumberBounds kCommandBounds = NumberBounds::whole(1, kMostCommands);
inline constexpr NumberBounds kShareBounds = NumberBounds::real(0, 1);

// One declared number, for whoever lists them.
struct DeclaredNumber {
  std::string name;  // of an option or a key: "--count", "stages.0.batch"
  NumberBounds bounds;
  // How the number stands in its value: "{}", or "1:{}" for a part of it.
  std::string pattern = "{}";
};

}  // namespace shellgame
