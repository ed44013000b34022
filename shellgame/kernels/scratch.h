// Working memory for kernels: 64-byte aligned floats that are not set to zero.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace shellgame {

class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(std::int64_t size) : size_(size) {
    const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(float) + 63) / 64 * 64;
    data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes == 0 ? 64 : bytes)));
    if (!data_) throw std::bad_alloc();
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float, Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace shellgame
