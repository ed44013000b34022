// Traces of a task as a file: text, JSON lines, token shards, or word problems. Rows with questions
// are in question_rows.h.
//
//   write_traces(task, TraceForm::kJson, {.count = 1000, .output = "traces.jsonl"});
#pragma once

#include <cstdint>
#include <string>

#include "shellgame/replay/replay.h"
#include "shellgame/tasks/task.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

enum class TraceForm {
  kText,         // examples of a shell, with a comment before each trace
  kJson,         // a line a trace: text, reveals, states
  kTokens,       // ids, with an index beside the file
  kWordProblem,  // CSV of group elements and their running products; of certain tasks
};

struct TraceFileOptions {
  std::uint64_t count = 1, seed = 0, first_index = 0;
  std::string output = "-";              // a file, or standard output
  bool headers = true;                   // of text: whether the comments are there
  bool beliefs = false;                  // of JSON: the exact belief with every reveal
  const Tokenizer* tokenizer = nullptr;  // for tokens
  Replay* replay = nullptr;              // gets every trace on the way
};

// Long texts go out piece by piece; of all else some traces are in memory. Throws UsageError for
// what the form cannot hold, Error if memory cannot hold a trace.
void write_traces(const Task& task, TraceForm form, const TraceFileOptions& options);

}  // namespace shellgame
