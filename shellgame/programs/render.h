// From events to doctest-valid REPL text, line by line. Every other form of a trace (tokens, JSON)
// is made from this text, so that they cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/programs/program.h"

namespace shellgame {

inline constexpr std::string_view kPrompt = ">>> ";
inline constexpr std::string_view kContinuation = "... ";

// A value that a reveal or an assert shows.
struct RevealMark {
  std::uint64_t command = 0;  // commands executed before it
  std::uint32_t event = 0;    // index of the Print or Assert in its program
  VariableId variable = 0;
  ValueId value = 0;
  std::uint64_t offset =
      0;  // byte of the value's first character in the text (inside the quotes of a string)
  std::uint32_t length = 0;  // bytes of the value
};

// Whether a mark shows the variable's value (print, assert ==), rather than the blind question of a
// != or in.
bool shows_value(const Program& program, const RevealMark& mark);

// Appends the lines of one event. `environment` counts the hidden environment variables used so
// far. If `marks` is given, appends a mark for each shown value; its `command` and `event` are left
// to the caller.
void render_event(const Program& program, const Event& event, std::uint64_t& environment,
                  std::string& text, std::vector<RevealMark>* marks = nullptr);

// Turns marks in bytes into marks in units (tokens) of the same text, where unit k begins at byte
// offsets[k].
void marks_in_units(std::vector<RevealMark>& marks, const std::vector<std::uint32_t>& offsets);

// The whole text. Marks count commands and bytes from the start of this program.
std::string render(const Program& program, std::vector<RevealMark>* marks = nullptr);

}  // namespace shellgame
