// The sequence-to-sequence form of state tracking: token ids in, token ids out. Every task of this
// folder is a SequenceTask, whose samples are pure functions of (task, seed, index), and every
// sequence can be written as a row of CSV or as a line of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shellgame {

struct Sequence {
  std::vector<std::uint32_t> input;
  // One target for each input, or a single one: the answer after the last input.
  std::vector<std::uint32_t> target;
  friend bool operator==(const Sequence&, const Sequence&) = default;
};

class SequenceTask {
 public:
  virtual ~SequenceTask() = default;
  virtual std::string name() const = 0;
  // Inputs and targets are ids below this number; token() is the text of one.
  virtual std::uint64_t vocabulary_size() const = 0;
  virtual std::string token(std::uint32_t id) const = 0;
  // Drawn from RandomStream(seed, index, Lane::kSequence) and from nothing else.
  virtual Sequence sample(std::uint64_t seed, std::uint64_t index) const = 0;
};

// Which sequences a (task, seed, index) gives; a change of any draw raises it.
inline constexpr int kSequenceGenerator = 1;
// A longer sequence is refused rather than allocated.
inline constexpr std::uint32_t kMaxSequenceLength = 1u << 24;

// The CSV of the public data jopetty/word-problem: "seed,input,target", ids separated by spaces.
inline constexpr const char* kSequenceCsvHeader = "seed,input,target\n";
std::string csv_row(std::uint64_t seed, const Sequence& sequence);
// {"index":0,"input":[..],"target":[..],"generator":1}
std::string json_line(std::uint64_t index, const Sequence& sequence);

}  // namespace shellgame
