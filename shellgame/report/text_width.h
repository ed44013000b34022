// How wide text is: the advance widths of Liberation Sans (which are those of Arial and Helvetica)
// and of fixed-width fonts, so that labels can be placed and checked without a font at hand.
#pragma once

#include <string_view>

namespace shellgame {

struct FontStyle {
  bool bold = false, mono = false;
};

// In units of the font's size. UTF-8; letters that the table lacks count as a whole unit.
double text_width(std::string_view text, const FontStyle& style = {});

}  // namespace shellgame
