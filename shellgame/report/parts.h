// Parts of figures that are no charts: matrices and vectors of numbers as coloured cells, listings
// of programs, paragraphs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "shellgame/report/canvas.h"

namespace shellgame {

struct MatrixStyle {
  double cell = 20;            // width and height
  std::string colour = kBlue;  // of 1; 0 is white
  bool numbers = true;
  bool brackets = true;
  double size = 7;  // of the numbers
  // Cells in another colour, by (row, column).
  std::map<std::pair<std::size_t, std::size_t>, std::string> marked = {};
};

// "0.25"; thirds and sixths as fractions; powers of two below 1/16 as 2^{-24}.
std::string cell_number(double value);
// `shade` between white (0) and the colour (1).
std::string mixed_colour(const std::string& colour, double shade);

// Rows one after the other; returns the box with brackets.
Box draw_matrix(Canvas& canvas, double x, double y, const std::vector<double>& values,
                std::size_t columns, const MatrixStyle& style);
double matrix_width(std::size_t columns, const MatrixStyle& style);

// A piece of a line of a listing.
struct TextSpan {
  std::string text;
  std::string colour = kInk;
  bool bold = false;
};
struct Listing {
  std::vector<std::vector<TextSpan>> lines;
  double size = 7;
};
double line_height(const Listing& listing);
// In a light box whose upper left corner is (x, y); returns the box.
Box draw_listing(Canvas& canvas, double x, double y, double width, const Listing& listing);

// Words on lines of at most `width`; y is the first base line. Returns the base line after the
// last.
double draw_paragraph(Canvas& canvas, double x, double y, double width, const std::string& text,
                      const TextStyle& style = {});

}  // namespace shellgame
