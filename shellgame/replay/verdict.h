// What a session printed, beside what its trace says it prints. The interpreter only tells the
// outputs: the comparison is made here, where no trace can reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shellgame/replay/examples.h"
#include "shellgame/replay/replay.h"

namespace shellgame {

// session.py has the same numbers.
enum class OutputKind : std::uint32_t {
  kPrinted,
  kRaised,   // the last line of a traceback
  kNoText,   // printed or raised, but not UTF-8: shown escaped, equal to nothing
  kBegins,   // an example is about to run; only in a process of its own
  kDone,     // all examples have run
  kDoctest,  // lines that doctest fails
};

struct ExampleOutput {
  std::uint32_t example = 0;  // from 0
  OutputKind kind = OutputKind::kPrinted;
  std::string text;
};

// Of one session; examples without output have no entry.
struct SessionOutputs {
  std::vector<ExampleOutput> outputs;
  // Where the session came to a bad end: its last example, and how it ended.
  struct End {
    std::size_t example = 0;
    std::string how;
  };
  std::optional<End> end;
};

// What doctest, the second witness, found.
struct DoctestResult {
  bool refused = false;            // the text as a whole
  std::vector<std::size_t> lines;  // of the examples that it fails
  friend bool operator==(const DoctestResult&, const DoctestResult&) = default;
};

// One trace's part of a report: counts of 1 trace and the first `keep` mismatches.
// `doctest` is what the second witness found, if it was asked.
ReplayReport judge(std::uint64_t trace, const CutText& cut, const SessionOutputs& session,
                   const std::optional<DoctestResult>& doctest, std::size_t keep);

// Adds the counts of a part that follows; of its mismatches as many as there is room for.
void append_report(ReplayReport& whole, ReplayReport part, std::size_t keep);

}  // namespace shellgame
