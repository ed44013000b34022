// Shapes of tensors: lengths of the axes, outermost first; [] is a single number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shellgame {

using Shape = std::vector<std::int64_t>;

// Readers refuse more axes than NumPy can have.
inline constexpr std::size_t kMaxAxes = 64;

// The number of elements; nothing if an axis is negative or if the product of all axes that are not
// zero passes 2^63 - 1 (strides are such products, also of tensors without elements).
std::optional<std::uint64_t> element_count(std::span<const std::int64_t> shape);

// "[2, 3]"
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace shellgame
