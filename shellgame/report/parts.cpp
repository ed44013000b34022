#include "shellgame/report/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kBracket = 4, kMargin = 6;

int channel(const std::string& colour, std::size_t at) {
  return std::stoi(colour.substr(at, 2), nullptr, 16);
}

// Perceived: whether black or white text is read better on it.
bool is_dark(const std::string& colour) {
  return 0.299 * channel(colour, 1) + 0.587 * channel(colour, 3) + 0.114 * channel(colour, 5) < 140;
}

void draw_bracket(Canvas& canvas, double x, double y, double height, double inwards) {
  canvas.polyline({{x + inwards, y}, {x, y}, {x, y + height}, {x + inwards, y + height}},
                  {.width = 0.9});
}

}  // namespace

std::string cell_number(double value) {
  if (value == 0 || value == 1) return fmt::format("{:g}", value);
  const double power = std::log2(value);
  if (value > 0 && power == std::round(power) && power < -4)
    return fmt::format("2^{{{:g}}}", power);
  for (const auto& [part, of] :
       {std::pair(1, 3), std::pair(2, 3), std::pair(1, 6), std::pair(5, 6)}) {
    if (std::abs(value * of - part) < 1e-12) return fmt::format("{}/{}", part, of);
  }
  return fmt::format("{:.3g}", value);
}

std::string mixed_colour(const std::string& colour, double shade) {
  shade = std::clamp(shade, 0.0, 1.0);
  const auto mixed = [&](std::size_t at) {
    return static_cast<int>(std::lround(255 + (channel(colour, at) - 255) * shade));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(1), mixed(3), mixed(5));
}

double matrix_width(std::size_t columns, const MatrixStyle& style) {
  return static_cast<double>(columns) * style.cell + (style.brackets ? 2 * kBracket : 0);
}

Box draw_matrix(Canvas& canvas, double x, double y, const std::vector<double>& values,
                std::size_t columns, const MatrixStyle& style) {
  if (columns == 0 || values.size() % columns != 0)
    wrong_use("a matrix must have whole rows, not {} numbers in {} columns", values.size(),
              columns);
  const double left = x + (style.brackets ? kBracket : 0);
  const std::size_t rows = values.size() / columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double value = values[i * columns + j];
      const auto marked = style.marked.find({i, j});
      const std::string fill =
          marked != style.marked.end()
              ? mixed_colour(marked->second, value > 0 ? 0.25 + 0.65 * value : 0.1)
              : mixed_colour(style.colour, value > 0 ? 0.12 + 0.78 * value : 0);
      const Box box{left + static_cast<double>(j) * style.cell,
                    y + static_cast<double>(i) * style.cell, style.cell, style.cell};
      canvas.rectangle(box, fill, {.colour = kLightGrey, .width = 0.4});
      if (!style.numbers) continue;
      const std::string number = cell_number(value);
      TextStyle text{.size = style.size, .anchor = Anchor::kMiddle};
      if (is_dark(fill)) text.colour = "#ffffff";
      if (value == 0) text.colour = "#999999";
      text = Canvas::fitted(number, text, style.cell - 2);
      canvas.text(box.middle(), box.centre() + text.size * 0.36, number, text);
    }
  }
  const double height = static_cast<double>(rows) * style.cell;
  if (style.brackets) {
    draw_bracket(canvas, x, y - 1, height + 2, kBracket - 1);
    draw_bracket(canvas, x + matrix_width(columns, style), y - 1, height + 2, 1 - kBracket);
  }
  return {x, y, matrix_width(columns, style), height};
}

double line_height(const Listing& listing) { return listing.size * 1.35; }

Box draw_listing(Canvas& canvas, double x, double y, double width, const Listing& listing) {
  const double step = line_height(listing);
  const Box box{x, y, width,
                static_cast<double>(listing.lines.size()) * step + 2 * kMargin - step * 0.3};
  canvas.rectangle(box, "#f6f6f4", {.colour = kLightGrey, .width = 0.6}, 2);
  double base = y + kMargin + listing.size * 0.75;
  for (const auto& line : listing.lines) {
    double left = x + kMargin;
    for (const TextSpan& span : line) {
      const TextStyle style{
          .size = listing.size, .bold = span.bold, .mono = true, .colour = span.colour};
      canvas.text(left, base, span.text, style);
      left += Canvas::width_of(span.text, style);
    }
    base += step;
  }
  return box;
}

double draw_paragraph(Canvas& canvas, double x, double y, double width, const std::string& text,
                      const TextStyle& style) {
  std::string line;
  const auto put = [&] {
    const double at = style.anchor == Anchor::kMiddle ? x + width / 2 : x;
    canvas.text(at, y, line, style);
    y += style.size * 1.3;
    line.clear();
  };
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    from = end + 1;
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && Canvas::width_of(longer, style) > width) {
      put();
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) put();
  return y;
}

}  // namespace shellgame
