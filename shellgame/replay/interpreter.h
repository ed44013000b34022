// One CPython that runs replay.py: many traces of the trace language, one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/replay/examples.h"
#include "shellgame/replay/frames.h"
#include "shellgame/replay/sources.h"
#include "shellgame/replay/verdict.h"

namespace shellgame {

// A trace that waits for its replay.
struct ReplayTrace {
  std::uint64_t index = 0;  // the caller's name for it
  std::uint32_t seed = 0;
  bool doctest = false;  // whether the second witness is asked too
  CutText cut;
  KnownTrace known;
  std::optional<std::vector<double>> hidden_numbers;  // what random() returns, if not the seed's
};

// How many hidden numbers a trace has, as the scripts are told: all ones for none.
std::uint32_t hidden_count(const ReplayTrace& trace);
// Their bytes.
std::string_view hidden_bytes(const ReplayTrace& trace);

struct TraceResult {
  SessionOutputs session;
  std::optional<DoctestResult> doctest;
};

class Interpreter {
 public:
  Interpreter(const std::string& python, const std::atomic<bool>& stop);

  const std::string& version() const { return process_.greeting(); }
  // The traces must be plain and of one generation of sources. Throws Error if the interpreter died
  // or took too long.
  std::vector<TraceResult> run(const std::vector<const ReplayTrace*>& traces);

 private:
  std::string request(const std::vector<const ReplayTrace*>& traces);
  std::uint32_t local_number(std::uint32_t source, std::string_view text, std::string& learned);

  ScriptProcess process_;
  std::uint32_t generation_ = 0, learned_ = 0;
  std::vector<std::uint32_t> numbers_;  // of the table's sources, here; plus 1, 0 for unknown
};

}  // namespace shellgame
