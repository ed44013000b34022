// Verification of traces by a real CPython. Each trace is run, example by example, as the
// interactive shell runs it, and what it prints is compared with what the trace says, exactly.
// A replay runs whatever code the trace holds. Traces of the trace language, which the parser reads
// whole, share an interpreter. Any other text runs in a process of its own, with what protection
// the system offers (docs/traces.md, "Whose code runs").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

// What is asked of the system for traces that run alone. All but the first are for tests: they are
// what remains on systems that refuse namespaces, or everything.
enum class Protection { kAll, kNoNamespaces, kLimitsOnly };

struct ReplayOptions {
  std::string python = "python3";   // a program, looked up in PATH; CPython 3.8 or later
  int processes = 0;                // interpreters at once; 0 means thread_count()
  std::size_t doctest_every = 100;  // the standard library's doctest also checks every so many
                                    // traces, the first included; 0 means none
  std::size_t keep_mismatches = 10;
  // For a trace that is not of the trace language:
  double time_limit = 10;           // seconds; every megabyte of its text adds as much again
  std::size_t memory_limit = 1024;  // MiB for each of its processes
  Protection protection = Protection::kAll;

  // The seconds that a session of this many bytes may take.
  double seconds_for(std::size_t bytes) const;
};

// The bounds of these limits.
inline constexpr double kLeastTimeLimit = 0.1, kMostTimeLimit = 86400;
inline constexpr std::size_t kLeastMemoryLimit = 128, kMostMemoryLimit = std::size_t{1} << 20;

// One example whose output differs from what the trace says. Long texts are shortened; outputs are
// without their last newline; an exception's `got` is the last line of its traceback. A session
// that came to a bad end has one mismatch there, "[the session ended with exit code 3]", and none
// after it.
struct Mismatch {
  std::uint64_t trace;  // its index, as given to add()
  std::size_t line;     // of the example's prompt, from 1
  std::string source, expected, got;
  bool operator==(const Mismatch&) const = default;
};

// Nothing here but `seconds` depends on the number of processes.
struct ReplayReport {
  std::string python_version;  // "3.11.2"; empty if no trace was given
  std::size_t traces = 0;
  std::size_t examples = 0;    // prompts with their continuations
  std::size_t outputs = 0;     // examples with an expected output
  std::size_t mismatches = 0;  // examples that differ; a text that doctest would refuse counts one
  std::size_t isolated = 0;    // traces that ran in a process of their own
  // What kept those from the rest of the system: "no network", "another user", ...
  std::vector<std::string> protections;
  std::size_t doctest_traces = 0;    // a session that came to a bad end is not run again by doctest
  std::size_t doctest_failures = 0;  // examples that doctest fails
  std::size_t disagreements = 0;     // traces where doctest and the replay name different lines
  std::optional<std::uint64_t> first_disagreement;
  double seconds = 0;           // from the first add() to the end
  std::vector<Mismatch> first;  // the first keep_mismatches, in the order of add()

  bool passed() const { return mismatches == 0 && doctest_failures == 0 && disagreements == 0; }
};

// What a text means is what doctest says: ">>> " starts an example, "... " continues it, the lines
// up to the next prompt or blank line are its output, all else is prose. Compared exactly: there
// are no doctest directives and no <BLANKLINE>, and a carriage return is a character like others,
// so that the outputs of a file with CRLF all differ. An expected traceback is compared by its last
// line, as in doctest.
//
// Hidden sources that a trace may read, from a Python seed s (0 if none was given): random's
// generator is seeded with s; the environment has LOAD_1, LOAD_2, ... up to the highest that its
// sources mention (a million at most), the repr of successive values of
// random.Random(2**32 + s).random(); a module `service` draws from r = random.Random(2**33 + s):
// fetch() is r.random(), start(*values) is tuple(r.sample(values, k=len(values))).
//
// With a list of hidden numbers, random's random() returns these in order instead; one too few is
// an exception where it is drawn, one too many a mismatch at the end of the trace.
//
// No trace changes what is found of another one, whatever it does.
class Replay {
 public:
  explicit Replay(ReplayOptions options);
  ~Replay();  // without finish(), what is still to be replayed is dropped
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Hands over one trace; waits while the interpreters are far behind. `index` is the caller's name
  // for it; the seed must be below 2**32. Throws Error if there is no interpreter or the system
  // ended one. To be called from one thread at a time.
  void add(std::uint64_t index, std::string_view text, std::optional<std::uint64_t> python_seed,
           const std::vector<double>* hidden_numbers = nullptr);

  // Waits for all traces. Throws like add(). Nothing may be added afterwards.
  ReplayReport finish();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace shellgame
