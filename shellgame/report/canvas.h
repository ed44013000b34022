// A page of SVG, in points (1/72 inch): shapes and texts are added, then written out. It remembers
// where each text lies, so that a test can tell that none is cut off or lies on another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shellgame/report/palette.h"

namespace shellgame {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  double middle() const { return x + width / 2; }
  double centre() const { return y + height / 2; }
};

struct Point {
  double x = 0, y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 8;
  bool bold = false, italic = false, mono = false;
  std::string colour = kInk;
  Anchor anchor = Anchor::kStart;
  bool upwards = false;  // turned by -90 degrees
};

struct Stroke {
  std::string colour = kInk;
  double width = 0.8;
  std::string dash = {};
  double opacity = 1;
};

inline const Stroke kNoStroke = {.width = 0};

struct PlacedText {
  std::string text;
  Box box;  // from the height of capitals to below the line
};

// What is known about a figure beside its picture; it goes into every file.
struct FigureMetadata {
  std::string title, description, command;
};

class Canvas {
 public:
  Canvas(double width, double height) : width_(width), height_(height) {}

  double width() const { return width_; }
  double height() const { return height_; }
  void set_height(double height) { height_ = height; }

  void line(double x1, double y1, double x2, double y2, const Stroke& stroke = {});
  // With a head at the second end (and with `both` at the first).
  void arrow(double x1, double y1, double x2, double y2, const Stroke& stroke = {},
             bool both = false);
  void rectangle(const Box& box, const std::string& fill, const Stroke& stroke = kNoStroke,
                 double radius = 0, double opacity = 1);
  void polyline(const std::vector<Point>& points, const Stroke& stroke);
  void polygon(const std::vector<Point>& points, const std::string& fill, double opacity = 1,
               const Stroke& stroke = kNoStroke);
  // `note` is what a browser shows for a pointer on it.
  void circle(double x, double y, double radius, const std::string& fill,
              const std::string& note = {}, const Stroke& stroke = kNoStroke);
  // (x, y) is on the base line. "_{...}" is set lower and smaller, "^{...}" higher.
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  // The width that text() would take, marks of "_{...}" not counted.
  static double width_of(std::string_view text, const TextStyle& style);
  // The largest size, at most that of the style, with which the text is no wider.
  static TextStyle fitted(std::string_view text, TextStyle style, double width);

  const std::vector<PlacedText>& texts() const { return texts_; }
  // Texts that stick out of the page.
  std::vector<PlacedText> cut_off() const;
  // Pairs of texts that cover each other by more than a tenth of the smaller one.
  std::vector<std::pair<std::string, std::string>> overlaps() const;

  std::string svg(const FigureMetadata& metadata) const;

 private:
  double width_, height_;
  std::string body_;
  std::vector<PlacedText> texts_;
};

}  // namespace shellgame
