#include "shellgame/tool/number_list.h"

#include <algorithm>
#include <unordered_set>

#include "shellgame/text/error.h"

namespace shellgame {

std::vector<std::string_view> parts_between(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::pair<std::uint64_t, std::uint64_t> parse_span(const std::string& name,
                                                   const NumberBounds& bounds,
                                                   std::string_view text) {
  const std::size_t dash = text.find('-', 1);
  const auto first = bounds.parse<std::uint64_t>(name, text.substr(0, dash));
  if (dash == std::string_view::npos) return {first, first};
  const auto last = bounds.parse<std::uint64_t>(name, text.substr(dash + 1));
  if (last < first) wrong_use("{} must go from a number to a larger one, not '{}'", name, text);
  return {first, last};
}

std::vector<std::uint64_t> parse_whole_list(const std::string& name, const NumberBounds& bounds,
                                            std::string_view text, bool ranges) {
  std::vector<std::uint64_t> list;
  std::unordered_set<std::uint64_t> seen;
  for (const std::string_view part : parts_between(text, ',')) {
    const std::size_t dots = ranges ? part.find("..") : std::string_view::npos;
    const auto first = bounds.parse<std::uint64_t>(name, part.substr(0, dots));
    const auto last = dots == std::string_view::npos
                          ? first
                          : bounds.parse<std::uint64_t>(name, part.substr(dots + 2));
    if (last < first) wrong_use("{} must go from a number to a larger one, not '{}'", name, part);
    if (last - first >= kMostListed - list.size())
      wrong_use("{} must be at most {} numbers, not more, as '{}' asks for", name, kMostListed,
                part);
    for (std::uint64_t i = 0; i <= last - first; ++i) {
      if (!seen.insert(first + i).second)
        wrong_use("{} must have each number once, and {} is there again", name, first + i);
      list.push_back(first + i);
    }
  }
  return list;
}

std::vector<double> parse_real_list(const std::string& name, const NumberBounds& bounds,
                                    std::string_view text) {
  std::vector<double> list;
  for (const std::string_view part : parts_between(text, ',')) {
    list.push_back(bounds.parse<double>(name, part));
    if (list.size() > kMostListed) wrong_use("{} must be at most {} numbers", name, kMostListed);
  }
  return list;
}

}  // namespace shellgame
