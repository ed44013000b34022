#include "shellgame/tensors/shape.h"

#include <fmt/ranges.h>

#include <limits>

namespace shellgame {

std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::uint64_t product = 1;
  bool empty = false;
  for (const std::int64_t length : shape) {
    if (length < 0) return std::nullopt;
    if (length == 0) {
      empty = true;
      continue;
    }
    if (product > kMost / static_cast<std::uint64_t>(length)) return std::nullopt;
    product *= static_cast<std::uint64_t>(length);
  }
  return empty ? 0 : product;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace shellgame
