// CRC-32C (Castagnoli), as TensorBoard's record files and iSCSI use it.
#pragma once

#include <cstdint>
#include <string_view>

namespace shellgame {

// Of `bytes` after what gave `before` (0 at the beginning).
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace shellgame
