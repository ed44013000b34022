// A growing row of plain values whose new part is not set to zero: what is filled by copies at once
// should not be written twice. Otherwise like a std::vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace shellgame {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<const T> span() const { return {data_.get(), size_}; }
  std::string_view view() const requires(sizeof(T) == 1) { return {data_.get(), size_}; }

  // New values are whatever the memory held.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  void append(std::span<const T> values) {
    const std::size_t before = size_;
    resize(size_ + values.size());
    if (!values.empty())
      std::memcpy(data_.get() + before, values.data(), values.size() * sizeof(T));
  }
  void append(std::string_view text) requires std::is_same_v<T, char> {
    append(std::span<const char>(text.data(), text.size()));
  }

 private:
  void grow(std::size_t least) {
    const std::size_t capacity = std::max(least, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<T[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_ * sizeof(T));
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace shellgame
