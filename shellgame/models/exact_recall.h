// Heads of the first layer beside the reader's four: they remember what earlier lines said, for
// recipes whose second layer must know it at tokens that a convolution of four taps no longer
// reaches. A head holds a few rows; a row is written (beta 1) at the tokens of its key.
#pragma once

#include <vector>

#include "shellgame/models/exact_reader.h"

namespace shellgame {

inline constexpr int kRecallHeads = 8;         // of a layer that has such heads
inline constexpr int kPairHead = kExactHeads;  // LastPair's

struct RecallTap {
  int tokens;  // ago, at most 3
  double weight = 1;
};

struct RecallColumn {
  Terms sources;                // of a token's channels
  std::vector<RecallTap> taps;  // their sum is written if it is positive
  int to;                       // the channel that the head gives
};

struct RecallRow {
  Terms key;
  int tokens = 0;  // ago: the key is that of an earlier token
};

struct RecallHead {
  int head;
  std::vector<int> written;  // at these tokens
  std::vector<RecallRow> rows;
  std::vector<RecallColumn> columns;
  int lit;  // columns that are on when all rows are written; then they give 1 each
};

// After the reader's own write.
void write_recall(HandWritten& model, const TraceReader& reader, const RecallHead& recall);

// The variables of the last line with an `=`, which for a swap are its two, from that `=` on.
struct LastPair {
  explicit LastPair(TraceReader& reader);
  RecallHead head(const TraceReader& reader) const;

  std::vector<int> moved;  // channels, by variable
  int nothing;             // an assignment: so that as many hold 1
};

}  // namespace shellgame
