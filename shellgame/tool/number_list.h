// Lists of numbers on a command line: 1,2,3, ranges such as 0..4, and lengths such as 40-256.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shellgame/text/number.h"

namespace shellgame {

// Longer lists are not what is meant.
inline constexpr std::uint64_t kMostListed = 10'000;

// The parts between separators; of an empty text one empty part.
std::vector<std::string_view> parts_between(std::string_view text, char separator);

// "40-256" or "40" as a pair. Throws UsageError.
std::pair<std::uint64_t, std::uint64_t> parse_span(const std::string& name,
                                                   const NumberBounds& bounds,
                                                   std::string_view text);

// "0,1,2", and with `ranges` "0..4,7"; each number once. Throws UsageError.
std::vector<std::uint64_t> parse_whole_list(const std::string& name, const NumberBounds& bounds,
                                            std::string_view text, bool ranges);
std::vector<double> parse_real_list(const std::string& name, const NumberBounds& bounds,
                                    std::string_view text);

template <class Number>
std::vector<Number> parse_numbers(const std::string& name, const NumberBounds& bounds,
                                  std::string_view text, bool ranges) {
  if constexpr (std::floating_point<Number>) {
    return parse_real_list(name, bounds, text);
  } else {
    const std::vector<std::uint64_t> all = parse_whole_list(name, bounds, text, ranges);
    return std::vector<Number>(all.begin(), all.end());
  }
}

}  // namespace shellgame
