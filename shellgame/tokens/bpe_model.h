// The model of byte-level BPE: pieces of text to ids by merges, and ids to bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "shellgame/tokens/merges.h"
#include "shellgame/tokens/pre_tokenizer.h"
#include "shellgame/tokens/string_ids.h"
#include "shellgame/tokens/text_list.h"

namespace shellgame {

class BpeModel {
 public:
  static constexpr std::uint32_t kNoId = 0xFFFFFFFFu;

  struct Parts {
    Merges merges;
    std::vector<std::uint32_t> lengths;       // the bytes of each token, by id
    std::array<std::uint32_t, 256> byte_ids;  // the token of each byte, or kNoId
    std::unique_ptr<TextList>
        whole_texts;                 // what `whole` looks at; it stays where it is when parts move
    std::optional<StringIds> whole;  // ignore_merges: a piece that is a token is that token
    std::optional<std::uint32_t> unknown;  // for bytes without a token; else they are dropped
    bool fuse_unknown = false;             // neighbours that are unknown become one
  };
  explicit BpeModel(Parts parts);

  // Appends the ids of a run of pieces and, when `starts` is given, the byte of run.text at which
  // each begins. Recent short pieces are remembered, in a table of fixed size for each thread.
  void encode(const PieceRun& run, std::vector<std::uint32_t>& ids,
              std::vector<std::uint32_t>* starts) const;

 private:
  // Merges one piece; the symbols live until the next call on the same thread.
  const std::vector<MergeSymbol>& merge(std::string_view piece) const;
  template <bool kStarts>
  void encode_run(const PieceRun& run, std::vector<std::uint32_t>& ids,
                  std::vector<std::uint32_t>* starts) const;

  Parts parts_;
  bool complete_;         // every byte has a token, so lengths add up
  std::uint32_t serial_;  // tells the models apart in the threads' tables
};

}  // namespace shellgame
