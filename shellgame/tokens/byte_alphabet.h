// The alphabet of byte-level BPE: every byte has a printable character (GPT-2's choice), and a
// token's text in a tokenizer.json is written with these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shellgame {

// The character that stands for a byte.
char32_t byte_character(std::uint8_t byte);

// The bytes that a text of the alphabet stands for, appended to `bytes`. False, and nothing
// appended, when the text (valid UTF-8) has a character outside the alphabet.
bool append_bytes_of(std::string_view text, std::string& bytes);

}  // namespace shellgame
