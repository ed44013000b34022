// A trace: one sample's text with what is known about it beyond the text, and its JSON line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/programs/line_cache.h"
#include "shellgame/tasks/sampler.h"

namespace shellgame {

struct Trace {
  std::uint64_t seed = 0, index = 0;
  std::optional<std::uint32_t> python_seed;  // only where hidden numbers are drawn
  Buffer<char> text;
  std::vector<RevealMark> reveals;
  std::vector<ValueId> states;  // after each command, one after the other
  Program program;              // the last piece that was made (all of it for make())
};

// For each reveal, the probability of each value: the Bayes-optimal label, from beliefs/.
using RevealBeliefs = std::vector<std::vector<double>>;

class TraceMaker {
 public:
  explicit TraceMaker(const Sampler& sampler);

  const Sampler& sampler() const { return sampler_; }
  // Overwrites `trace`, using its memory again. Reveals and states are left empty unless
  // `complete`.
  void make(std::uint64_t seed, std::uint64_t index, Trace& trace, bool complete) const;

  // "# shellgame trace: generator 1, seed 0, index 3": the comment before a trace in a text file.
  std::string header(std::uint64_t seed, std::uint64_t index) const;

  // Appends one JSON line: index, generator, text, reveals, states, python_seed where there is one.
  void append_json(const Trace& trace, std::string& out,
                   const RevealBeliefs* beliefs = nullptr) const;

  const LineCache<char>& cache() const { return cache_; }

 private:
  const Sampler& sampler_;
  LineCache<char> cache_;
};

// Appends `{"index": ..., "text": ...}` of any program, whoever made it. With `beliefs`, which must
// be as many as reveals, each reveal gets `"belief": {"1": 0.5, "2": 0.5}`.
void append_json_line(const Program& program, std::string_view text,
                      const std::vector<RevealMark>& reveals, std::span<const ValueId> states,
                      std::uint64_t index, std::optional<std::uint32_t> python_seed,
                      std::optional<int> generator, std::string& out,
                      const RevealBeliefs* beliefs = nullptr,
                      const std::vector<double>* hidden_numbers = nullptr);

// What verify and other readers of trace files need of one trace.
struct TraceText {
  std::uint64_t index = 0;
  std::string text;
  std::optional<std::uint64_t> python_seed;
  std::optional<std::vector<double>> hidden_numbers;  // what random() returned, of forced traces
  bool forced = false;                                // a text that says so
  std::size_t line = 1;                               // of the file, where the text begins
};

// Reads a file of traces: JSON lines with `text` (and `python_seed`, `index`), or text in which a
// blank line or a header comment separates traces. Throws InputError with file and line.
std::vector<TraceText> read_traces(std::string_view content, const std::string& file);

}  // namespace shellgame
