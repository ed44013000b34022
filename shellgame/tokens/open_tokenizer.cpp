#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/bpe_tokenizer.h"
#include "shellgame/tokens/byte_tokenizer.h"
#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {

std::unique_ptr<Tokenizer> open_tokenizer(const std::string& name) {
  if (name == "lexeme") return std::make_unique<LexemeTokenizer>();
  if (name == "bytes") return std::make_unique<ByteTokenizer>();
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path path(name);
  if (fs::is_directory(path, ignored)) path /= "tokenizer.json";
  if (!fs::is_regular_file(path, ignored))
    wrong_use(
        "a tokenizer must be \"lexeme\", \"bytes\", the path of a tokenizer.json or of a directory "
        "that holds one, but \"{}\" is none of them",
        name);
  const MappedFile file(path.string());
  if (file.bytes() == lexeme_tokenizer_json()) return std::make_unique<LexemeTokenizer>();
  return std::make_unique<BpeTokenizer>(file.bytes(), path.string());
}

}  // namespace shellgame
