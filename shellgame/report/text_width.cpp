#include "shellgame/report/text_width.h"

#include <cstdint>
#include <utility>

namespace shellgame {
namespace {

// Thousandths of the font's size, from the space on.
constexpr std::uint16_t kRegular[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr std::uint16_t kBold[] = {
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667,
    611, 778, 722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556,
    278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584};
static_assert(std::size(kRegular) == 95 && std::size(kBold) == 95);
constexpr std::uint16_t kMono = 602;

// The others that figures use: the wider of plain and bold.
constexpr std::pair<std::uint32_t, std::uint16_t> kOther[] = {
    {0x3b2, 610},   {0x3c3, 684}, {0x2264, 549}, {0x2265, 549}, {0x2192, 1000},
    {0xd7, 584},    {0xb7, 278},  {0x2212, 584}, {0x2013, 556}, {0x2194, 1000},
    {0x2026, 1000}, {0xb1, 549},  {0x2032, 240}};

}  // namespace

double text_width(std::string_view text, const FontStyle& style) {
  double width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    std::uint32_t letter = length == 1 ? first : first & (0xffu >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      letter = letter << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    i += length;
    std::uint16_t one = 1000;
    if (style.mono) {
      one = kMono;
    } else if (letter >= 32 && letter < 127) {
      one = (style.bold ? kBold : kRegular)[letter - 32];
    } else {
      for (const auto& [known, its] : kOther) {
        if (known == letter) one = its;
      }
    }
    width += one / 1000.0;
  }
  return width;
}

}  // namespace shellgame
