// One trace as token ids, piece by piece: a trace of any length in the memory of one piece.
#pragma once

#include <cstdint>

#include "shellgame/tokens/token_maker.h"

namespace shellgame {

class TokenStream {
 public:
  // `maker` must outlive the stream.
  TokenStream(const TokenMaker& maker, std::uint64_t seed, std::uint64_t index);

  // The next `commands` commands with their reveals (the first piece also has the start), which
  // replace what `piece` held. The places of reveals count from the start of the piece, their
  // commands from the start of the trace; piece.trace.program is the piece's. The ids of all pieces
  // together are TokenMaker::make's. With a tokenizer whose lines depend on each other the first
  // piece is the whole trace. False when the trace is complete.
  bool next(TokenTrace& piece, std::uint64_t commands);

 private:
  const TokenMaker& maker_;
  std::uint64_t seed_, index_;
  ProgramStream programs_;
  std::uint64_t commands_ = 0, environment_ = 0;
  bool whole_given_ = false;
};

}  // namespace shellgame
