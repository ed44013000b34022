// One CPython that runs replay.py, and the frames it is spoken to with. A frame is its length
// (8 bytes, little-endian as all numbers) and that many bytes; replay.py holds the other end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/replay/replay.h"
#include "shellgame/system/process.h"

namespace shellgame {

// Traces that are sent together; they follow one another in the order of add().
struct ReplayBatch {
  std::uint64_t sequence = 0;          // of the first trace, counted from 0
  std::vector<std::uint64_t> indices;  // the caller's names
  std::string headers;                 // a fixed-size record a trace
  std::string texts;                   // one after the other

  void add(std::uint64_t index, std::uint32_t seed, bool doctest, std::string_view text);
};

// Memory that the child writes the position of its current trace to; so the parent knows which
// trace it was even when the child hangs or is killed, at no cost a trace.
class SharedCounter {
 public:
  SharedCounter();
  ~SharedCounter();
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  std::uint64_t value() const { return *static_cast<const volatile std::uint64_t*>(address_); }
  void reset() { *static_cast<volatile std::uint64_t*>(address_) = 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  void* address_ = nullptr;
};

class Interpreter {
 public:
  // Starts the program and waits for its greeting. Any call gives up with an Error soon after
  // `stop` is set.
  Interpreter(const ReplayOptions& options, const std::atomic<bool>& stop);

  const std::string& version() const { return version_; }
  // The counts and kept mismatches of the batch alone; no version, no seconds.
  ReplayReport run(const ReplayBatch& batch);

 private:
  std::string converse(std::string_view head, const ReplayBatch* batch, double seconds);
  [[noreturn]] void give_up(const std::string& what, const ReplayBatch* batch);
  const ReplayOptions& options_;
  const std::atomic<bool>& stop_;
  SharedCounter current_;
  Process process_;
  std::string received_;
  std::string version_;
};

}  // namespace shellgame
