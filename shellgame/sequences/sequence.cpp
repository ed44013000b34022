#include "shellgame/sequences/sequence.h"

#include <fmt/format.h>

namespace shellgame {

std::string csv_row(std::uint64_t seed, const Sequence& sequence) {
  return fmt::format("{},{},{}\n", seed, fmt::join(sequence.input, " "),
                     fmt::join(sequence.target, " "));
}

std::string json_line(std::uint64_t index, const Sequence& sequence) {
  return fmt::format("{{\"index\":{},\"input\":[{}],\"target\":[{}],\"generator\":{}}}\n", index,
                     fmt::join(sequence.input, ","), fmt::join(sequence.target, ","),
                     kSequenceGenerator);
}

}  // namespace shellgame
