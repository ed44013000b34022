// Added tokens of a tokenizer.json: texts that are found before anything else is done (special
// tokens are such). Those marked "normalized" are looked for in the normalised text, the others in
// the original.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

struct AddedToken {
  std::uint32_t id = 0;
  std::string content;
  bool single_word = false;  // no word character may touch it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = false;
};

// Finds the tokens it was made of: leftmost, of those the longest.
class AddedTokenFinder {
 public:
  struct Found {
    std::size_t begin, end;  // with the white space that it takes
    std::uint32_t id;
  };

  explicit AddedTokenFinder(std::vector<AddedToken> tokens = {});
  bool empty() const { return tokens_.empty(); }
  // All tokens in a text (valid UTF-8), in order, as Hugging Face's library finds them.
  std::vector<Found> find(std::string_view text) const;

 private:
  struct Node {
    std::int32_t token = -1;  // that ends here
    std::vector<std::pair<char, std::uint32_t>> next;
  };
  const AddedToken* longest_at(std::string_view text, std::size_t begin) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;
  std::array<bool, 256> starts_{};  // bytes with which some token begins
};

}  // namespace shellgame
