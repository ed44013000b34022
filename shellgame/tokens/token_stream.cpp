#include "shellgame/tokens/token_stream.h"

namespace shellgame {

TokenStream::TokenStream(const TokenMaker& maker, std::uint64_t seed, std::uint64_t index)
    : maker_(maker), seed_(seed), index_(index), programs_(maker.sampler(), seed, index) {}

bool TokenStream::next(TokenTrace& piece, std::uint64_t commands) {
  const LineCache<std::uint32_t>* lines = maker_.lines();
  if (lines == nullptr) {
    if (whole_given_) return false;
    whole_given_ = true;
    maker_.make(seed_, index_, piece, true);
    return true;
  }
  piece.ids.clear();
  piece.reveals.clear();
  if (!programs_.next(piece.trace.program, commands)) return false;
  lines->append(piece.trace.program, piece.ids, commands_, environment_, &piece.reveals);
  return true;
}

}  // namespace shellgame
