// Normalizers of a tokenizer.json: NFC, NFD, NFKC, NFKD and Lowercase, one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

// A text after normalisation. `origins`, when it is asked for, gives for each byte the byte of the
// original where the piece begins that it came from (the byte itself where nothing changed), and
// has one more entry: the end of the original.
struct NormalizedText {
  std::string text;
  std::vector<std::uint32_t> origins;
};

class Normalizer {
 public:
  enum class Form { kNfc, kNfd, kNfkc, kNfkd, kLowercase };

  Normalizer() = default;  // changes nothing
  explicit Normalizer(std::vector<Form> forms) : forms_(std::move(forms)) {}

  // True when normalising would leave the text (valid UTF-8) as it is. May say false to be quick.
  bool leaves(std::string_view text) const;
  NormalizedText apply(std::string_view text, bool with_origins) const;

 private:
  std::vector<Form> forms_;
};

}  // namespace shellgame
