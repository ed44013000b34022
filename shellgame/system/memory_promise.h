// Large memory that is asked for before it is made. What one thread was promised and has not
// touched yet is not free for the others, though the system still counts it as free. A thread of a
// parallel_for that holds nothing waits until those beside it give back what it needs. One that
// holds some already is refused, since two of them would wait for each other.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <utility>

namespace shellgame {

class MemoryPromise {
 public:
  // Less than this is given without a question.
  static constexpr std::uint64_t kSmall = std::uint64_t{16} << 20;

  MemoryPromise() = default;
  // Throws Error with both numbers if `what` ("the belief over ...") needs more than there is.
  MemoryPromise(std::uint64_t bytes, const std::string& what);
  ~MemoryPromise() { give_back(); }
  MemoryPromise(MemoryPromise&& other) noexcept { swap(other); }
  MemoryPromise& operator=(MemoryPromise&& other) noexcept {
    if (this != &other) {
      give_back();
      swap(other);
    }
    return *this;
  }

  // So many bytes are in use from now on: the system counts them itself.
  void take(std::uint64_t bytes);

 private:
  void give_back() noexcept;
  void swap(MemoryPromise& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(untouched_, other.untouched_);
    std::swap(owner_, other.owner_);
    std::swap(passing_, other.passing_);
  }

  std::uint64_t bytes_ = 0, untouched_ = 0;
  std::thread::id owner_;
  bool passing_ = false;  // made within a parallel_for, which can be waited for
};

}  // namespace shellgame
