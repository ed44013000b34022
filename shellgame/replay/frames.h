// A Python that runs one of our scripts, and the frames it is spoken to with. A frame is its length
// (8 bytes, little-endian as all numbers) and that many bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shellgame/system/process.h"

namespace shellgame {

template <class Number>
void put_number(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(Number));
}

// Takes numbers and bytes from the front of an answer. What is not there is 0 or short, and
// complete() is false from then on.
class FrameFields {
 public:
  explicit FrameFields(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number number() {
    static_assert(std::is_integral_v<Number>);
    Number value{};
    const std::string_view raw = bytes(sizeof(Number));
    if (raw.size() == sizeof(Number)) std::memcpy(&value, raw.data(), sizeof(Number));
    return value;
  }
  std::string_view bytes(std::size_t count) {
    if (count > bytes_.size()) {
      complete_ = false;
      bytes_ = {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  bool complete() const { return complete_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool complete_ = true;
};

class ScriptProcess {
 public:
  // Starts `python -ISBu -c script arguments` and waits for a greeting that begins with these
  // words; throws Error if another comes or none. With `environment`, the process has no other
  // variables. Any call gives up with an Error soon after `stop` is set.
  ScriptProcess(const std::string& python, const std::string& script,
                const std::vector<std::string>& arguments, std::string_view greeting,
                const std::vector<std::string>* environment, const std::atomic<bool>& stop);

  // What the greeting said after its first words.
  const std::string& greeting() const { return greeting_; }
  // Sends the parts one after the other and returns the payload of the frame that answers them.
  // Nothing if the process ended, was silent for `seconds` or sent more than `most` bytes: it is
  // ended then, and failure() says in what way ("ended with exit code 1").
  std::optional<std::string> ask(std::initializer_list<std::string_view> parts, double seconds,
                                 std::uint64_t most);
  const std::string& failure() const { return failure_; }
  // Throws Error: the interpreter, its failure, where it was, what it said on standard error.
  [[noreturn]] void give_up(const std::string& where) const;
  // Closes its input and waits for its end, so that it can clear up.
  void end();

 private:
  const std::string python_;
  const std::atomic<bool>& stop_;
  Process process_;
  std::string received_, greeting_, failure_;
};

}  // namespace shellgame
