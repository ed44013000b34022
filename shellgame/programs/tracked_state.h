// The current state of a program while it is made: packed in 64 bits, four a variable, for up to 16
// variables (a command is then a handful of shifts), a plain list beyond.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shellgame/programs/program.h"

namespace shellgame {

class TrackedState {
 public:
  static constexpr std::size_t kMostPacked = 16;

  explicit TrackedState(std::span<const ValueId> values) : size_(values.size()) {
    if (size_ > kMostPacked) values_.assign(values.begin(), values.end());
    for (std::size_t v = 0; v < size_ && packed(); ++v)
      bits_ |= std::uint64_t{values[v]} << (4 * v);
  }

  std::size_t size() const { return size_; }
  bool packed() const { return size_ <= kMostPacked; }

  ValueId operator[](std::size_t v) const {
    return packed() ? static_cast<ValueId>((bits_ >> (4 * v)) & 15) : values_[v];
  }

  void set(std::size_t v, ValueId value) {
    if (packed()) {
      bits_ = (bits_ & ~(std::uint64_t{15} << (4 * v))) | (std::uint64_t{value} << (4 * v));
    } else {
      values_[v] = value;
    }
  }

  // new[v] = old[sources[v]] for all variables: a full permutation of a packed state.
  void permute_packed(const std::uint8_t* sources_times_four) {
    std::uint64_t bits = 0;
    for (std::size_t v = size_; v-- > 0;)
      bits = (bits << 4) | ((bits_ >> sources_times_four[v]) & 15);
    bits_ = bits;
  }

  // new[targets[k]] = old[sources[k]].
  void apply(const Permute& permute) {
    moved_.clear();
    for (VariableId source : permute.sources) moved_.push_back((*this)[source]);
    for (std::size_t k = 0; k < moved_.size(); ++k) set(permute.targets[k], moved_[k]);
  }
  // The same, where targets and sources are parameters of a function that is called with
  // `arguments`.
  void call(const Permute& outcome, std::span<const VariableId> arguments) {
    moved_.clear();
    for (VariableId source : outcome.sources) moved_.push_back((*this)[arguments[source]]);
    for (std::size_t k = 0; k < moved_.size(); ++k) set(arguments[outcome.targets[k]], moved_[k]);
  }

  void append_to(std::vector<ValueId>& values) const {
    for (std::size_t v = 0; v < size_; ++v) values.push_back((*this)[v]);
  }

 private:
  std::size_t size_;
  std::uint64_t bits_ = 0;
  std::vector<ValueId> values_, moved_;
};

}  // namespace shellgame
