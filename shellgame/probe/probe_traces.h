// Traces as probes need them: tokens with their kinds, and at every command where it stands, what
// it did, the true state after it and the exact belief. Of a word problem each token is a command:
// its state is the product so far. No Torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/evaluate/trace_rows.h"
#include "shellgame/probe/token_kinds.h"
#include "shellgame/sequences/sequence_spec.h"

namespace shellgame {

struct ProbeCommand {
  // Tokens from the one after the line's prompt up to and with the prompt of the next line: what
  // is done one token late is still the command's.
  std::size_t from = 0, to = 0;
  // new[v] = old[sources[v]]; empty where it is not certain what the command does.
  std::vector<std::uint16_t> sources = {};
  std::vector<std::uint16_t> state = {};  // the true value of each variable after it
  std::vector<double> belief = {};        // n x n: of variable (row) and value, given the text
};

struct ProbeTrace {
  std::vector<std::int64_t> ids;
  std::vector<TokenKind> kinds;
  std::vector<ProbeCommand> commands;
  std::vector<AskedReveal> reveals;  // `after` counts tokens of the trace; reveals of values only
};

class ProbeTraces {
 public:
  // Traces 0, ..., count - 1 of the generator's `seed`. `beliefs`: whether to compute those of an
  // uncertain task. The tokenizer must outlive the traces.
  ProbeTraces(const Task& task, const Tokenizer& tokenizer, std::uint64_t seed, std::uint64_t count,
              bool beliefs);
  // Words of a group that acts on points: a variable for each point, the product's image as its
  // value (by left multiplication, that of its inverse). Throws UsageError for another kind.
  ProbeTraces(const SequenceSpec& words, std::uint64_t seed, std::uint64_t count);

  const std::vector<ProbeTrace>& all() const { return traces_; }
  const RowMaker& rows() const { return *rows_; }  // the same traces, for evaluate()
  std::size_t variables() const { return variables_; }
  bool certain() const { return certain_; }
  bool has_beliefs() const { return rows_->has_beliefs(); }

 private:
  std::unique_ptr<RowMaker> rows_;
  std::vector<ProbeTrace> traces_;
  std::size_t variables_ = 0;
  bool certain_ = true;
};

}  // namespace shellgame
