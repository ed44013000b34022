// What the program tells people. Messages go to standard error and never fail: a log on a full
// disk, a closed descriptor or a reader that went away must not end the work. Answers go to
// standard output, where a failed write is an error. Text of others is made harmless here.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "shellgame/text/printable.h"

namespace shellgame {

// Bytes for standard error as they are: bars that are drawn, text that is printable already.
void draw(std::string_view bytes) noexcept;

// A line, or several, on standard error; the last line end is added.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) noexcept {
  try {
    draw(printable_lines(fmt::format(format, std::forward<Args>(args)...)) + "\n");
  } catch (...) {  // no memory for the message: the work goes on without it
  }
}

// Bytes for standard output as they are. Throws Error.
void write_output(std::string_view bytes);
// To be called before the program ends well: what is in the buffer is written. Throws Error.
void flush_output();

// Text for people on standard output: tables, summaries.
template <class... Args>
void print_lines(fmt::format_string<Args...> format, Args&&... args) {
  write_output(printable_lines(fmt::format(format, std::forward<Args>(args)...)));
}

// Data on standard output (traces, JSON, a model's text): its bytes as they are in a file or a
// pipe, and printable on a terminal.
void print_data(std::string_view bytes);

// Descriptors 0, 1 and 2 that the caller has closed are taken, so that no file that is opened later
// gets one of their numbers and with it our messages. Reading and writing there fails as before.
void take_closed_descriptors();

}  // namespace shellgame
