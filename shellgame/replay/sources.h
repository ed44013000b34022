// The sources of examples, each known by a number, and what is known about them: whether they are
// of the trace language, so that they may run in an interpreter that other traces use too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shellgame/replay/examples.h"

namespace shellgame {

struct KnownTrace {
  std::vector<std::uint32_t> sources;  // a number an example
  std::uint32_t generation = 0;        // numbers of different generations have nothing in common
  std::uint32_t loads = 0;             // LOAD_1, ..., LOAD_n are mentioned in it
  // Every source was part of a text that the parser read whole, and nothing in this text is hidden
  // from it: such a trace swaps, prints and asserts, and can do nothing else.
  bool plain = false;
};

class SourceTable {
 public:
  KnownTrace know(const CutText& cut);

 private:
  struct Known {
    std::uint32_t number = 0, loads = 0;
    bool plain = false;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, Known, Hash, std::equal_to<>> known_;
  std::size_t bytes_ = 0;
  std::uint32_t generation_ = 0;
  std::vector<Known*> here_;  // of the trace at hand
};

}  // namespace shellgame
