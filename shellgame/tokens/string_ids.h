// A map from texts to ids that is filled once and then only read: open addressing over texts that
// the caller keeps alive. Much faster to fill than std::unordered_map, which loading needs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace shellgame {

class StringIds {
 public:
  explicit StringIds(std::size_t expected = 0) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    slots_.resize(size);
  }

  // False when the text is there already (and keeps its id). Never add more than was expected.
  bool add(std::string_view text, std::uint32_t id) {
    Slot& slot = slots_[find_slot(text)];
    if (slot.text.data() != nullptr) return false;
    slot = {text.data() != nullptr ? text : std::string_view(""), id};
    return true;
  }

  std::optional<std::uint32_t> find(std::string_view text) const {
    const Slot& slot = slots_[find_slot(text)];
    if (slot.text.data() == nullptr) return std::nullopt;
    return slot.id;
  }

 private:
  struct Slot {
    std::string_view text;  // null when the slot is free
    std::uint32_t id = 0;
  };

  std::size_t find_slot(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = std::hash<std::string_view>()(text) & mask;
    while (slots_[i].text.data() != nullptr && slots_[i].text != text) i = (i + 1) & mask;
    return i;
  }

  std::vector<Slot> slots_;
};

}  // namespace shellgame
