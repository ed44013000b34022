// A sequence task by name, as command lines and experiments give it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shellgame/groups/permutation.h"
#include "shellgame/sequences/sequence.h"

namespace shellgame {

struct SequenceSpec {
  std::string kind;  // "parity", "modular-arithmetic", "word-problem"
  std::string group = "S5";
  Multiplication product = Multiplication::kRight;
  std::uint32_t min = 3, max = 40;  // lengths, as the kind counts them
  friend bool operator==(const SequenceSpec&, const SequenceSpec&) = default;
};

// Throws UsageError for an unknown kind, and for lengths that it does not have. A word problem has
// one length: the longest.
std::unique_ptr<SequenceTask> make_sequence_task(const SequenceSpec& spec);

}  // namespace shellgame
