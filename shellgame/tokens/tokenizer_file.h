// Reads a tokenizer.json in one pass. The vocabulary and the merges, hundreds of thousands of
// entries, go straight to flat lists; only the small rest becomes a JSON tree.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/tokens/text_list.h"

namespace shellgame {

struct TokenizerFile {
  TextList tokens;                 // the keys of model.vocab, in the order of the file
  std::vector<std::uint32_t> ids;  // and their ids
  TextList merges;                 // left and right parts in turn
  bool has_vocabulary = false, has_merges = false;
  nlohmann::json rest;  // the file without these two
};

// Throws InputError with `name` (and line and column, where the JSON itself is wrong) for anything
// that is not JSON, nests too deep, has a key twice, or has a vocabulary or merges of another form.
TokenizerFile read_tokenizer_file(std::string_view json, const std::string& name);

}  // namespace shellgame
