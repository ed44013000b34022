// Texts that meet every rule by which doctest cuts a text into examples.
#pragma once

#include <string>
#include <vector>

#include "shellgame/random/philox.h"

namespace shellgame {

// A text of random lines, right and wrong, that meet every rule of doctest's.
inline std::string random_text(RandomStream& stream) {
  static const std::vector<std::string> lines{">>> a = 1",
                                              ">>> a",
                                              "1",
                                              "2",
                                              ">>> print(a)",
                                              "... ",
                                              ">>> if True:",
                                              "...   print(2)",
                                              "...",
                                              "",
                                              "prose",
                                              " >>> a",
                                              " 1",
                                              "    ",
                                              ">>>",
                                              ">>>a",
                                              "...a",
                                              "  ... 1",
                                              ">>> # comment",
                                              "# comment",
                                              "\t1",
                                              ">>> \t1",
                                              ">>> 1/0",
                                              "  1",
                                              ">>> assert a",
                                              ">>> _",
                                              "1\r",
                                              ">>> True",
                                              "True",
                                              ">>> 'x",
                                              ">>> print('1', end='')",
                                              "<BLANKLINE>",
                                              ">>> print()",
                                              ">>> ",
                                              "Traceback (most recent call last):",
                                              "  File \"x\"",
                                              "ZeroDivisionError: division by zero",
                                              "NameError: name 'a' is not defined",
                                              ">>> del a",
                                              ">>> print('>>> 1')",
                                              ">>> 1; 2",
                                              ">>> for a in 1, 2: a",
                                              "   >>> a",
                                              "   1",
                                              "   ... ",
                                              "... #",
                                              ">>> a = 1 # doctest: +SKIP",
                                              ">>> raise SystemExit",
                                              "SystemExit",
                                              "\v1",
                                              "\u2028",
                                              ">>> import random; random.random() < 0.5"};
  std::string text;
  for (std::uint32_t left = 1 + stream.below(12); left > 0; --left) {
    // Half the lines from the plain ones, so that many texts go through.
    const auto most = static_cast<std::uint32_t>(stream.below(2) == 0 ? 11 : lines.size());
    text += lines[stream.below(most)];
    if (left > 1 || stream.below(2) == 0) text += '\n';
  }
  return text;
}

// Prompts, white space of all kinds and little else, in any order.
inline std::string prompt_soup(RandomStream& stream) {
  static const std::vector<std::string> pieces{
      ">>> ",  ">>>", "... ", "...", "\n", "\n", "\n", " ",  "  ",     "\n>>> ", "\n>>> ", "\n... ",
      "\n...", "a",   "1",    "#",   "\t", "\v", "\r", "\f", "\u2028", "\x1c",   ".",      ">"};
  std::string text;
  for (std::uint32_t left = 1 + stream.below(14); left > 0; --left) {
    text += pieces[stream.below(static_cast<std::uint32_t>(pieces.size()))];
  }
  return text;
}

}  // namespace shellgame
