#include "shellgame/report/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/report/text_width.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

constexpr const char* kSans = "Liberation Sans, Arial, Helvetica, sans-serif";
constexpr const char* kMono = "Liberation Mono, DejaVu Sans Mono, Courier New, monospace";
// Of letters set lower or higher.
constexpr double kSmaller = 0.72, kDown = 0.22, kUp = 0.36;
// Of the size: capitals above the base line, tails below it.
constexpr double kAbove = 0.74, kBelow = 0.22;

// Two decimals are a hundredth of a point.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

struct Run {
  std::string text;
  int shift = 0;  // -1 lower, 1 higher
};

std::vector<Run> runs_of(std::string_view text) {
  std::vector<Run> runs(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == '_' || text[i] == '^') && i + 1 < text.size() && text[i + 1] == '{') {
      const std::size_t end = text.find('}', i);
      if (end != std::string_view::npos) {
        runs.push_back({std::string(text.substr(i + 2, end - i - 2)), text[i] == '_' ? -1 : 1});
        runs.push_back({});
        i = end;
        continue;
      }
    }
    runs.back().text += text[i];
  }
  std::erase_if(runs, [](const Run& run) { return run.text.empty(); });
  return runs;
}

std::string stroke_of(const Stroke& stroke) {
  if (stroke.width == 0) return "";
  std::string text =
      fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", stroke.colour, number(stroke.width));
  if (!stroke.dash.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dash);
  if (stroke.opacity != 1) text += fmt::format(" stroke-opacity=\"{}\"", number(stroke.opacity));
  return text;
}

std::string points_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    if (!text.empty()) text += ' ';
    text += number(point.x) + "," + number(point.y);
  }
  return text;
}

double common_area(const Box& a, const Box& b) {
  const double width = std::min(a.right(), b.right()) - std::max(a.x, b.x);
  const double height = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

}  // namespace

void Canvas::line(double x1, double y1, double x2, double y2, const Stroke& stroke) {
  body_ += fmt::format("<path d=\"M{} {}L{} {}\" fill=\"none\"{}/>\n", number(x1), number(y1),
                       number(x2), number(y2), stroke_of(stroke));
}

void Canvas::arrow(double x1, double y1, double x2, double y2, const Stroke& stroke, bool both) {
  const double length = std::hypot(x2 - x1, y2 - y1);
  if (length == 0) return;
  const double along = 3.2 + 2 * stroke.width, aside = 1.2 + stroke.width;
  const double dx = (x2 - x1) / length, dy = (y2 - y1) / length;
  const auto head = [&](double x, double y, double ux, double uy) {
    polygon({{x, y},
             {x - ux * along - uy * aside, y - uy * along + ux * aside},
             {x - ux * along + uy * aside, y - uy * along - ux * aside}},
            stroke.colour);
  };
  const double cut = along * 0.8;
  line(both ? x1 + dx * cut : x1, both ? y1 + dy * cut : y1, x2 - dx * cut, y2 - dy * cut, stroke);
  head(x2, y2, dx, dy);
  if (both) head(x1, y1, -dx, -dy);
}

void Canvas::rectangle(const Box& box, const std::string& fill, const Stroke& stroke, double radius,
                       double opacity) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"",
                       number(box.x), number(box.y), number(box.width), number(box.height), fill);
  if (radius > 0) body_ += fmt::format(" rx=\"{}\"", number(radius));
  if (opacity != 1) body_ += fmt::format(" fill-opacity=\"{}\"", number(opacity));
  body_ += stroke_of(stroke) + "/>\n";
}

void Canvas::polyline(const std::vector<Point>& points, const Stroke& stroke) {
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n",
                       points_of(points), stroke_of(stroke));
}

void Canvas::polygon(const std::vector<Point>& points, const std::string& fill, double opacity,
                     const Stroke& stroke) {
  body_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"", points_of(points), fill);
  if (opacity != 1) body_ += fmt::format(" fill-opacity=\"{}\"", number(opacity));
  body_ += stroke_of(stroke) + "/>\n";
}

void Canvas::circle(double x, double y, double radius, const std::string& fill,
                    const std::string& note, const Stroke& stroke) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}", number(x), number(y),
                       number(radius), fill, stroke_of(stroke));
  body_ += note.empty() ? "/>\n" : fmt::format("><title>{}</title></circle>\n", xml_escaped(note));
}

double Canvas::width_of(std::string_view text, const TextStyle& style) {
  double width = 0;
  for (const Run& run : runs_of(text)) {
    width += text_width(run.text, {style.bold, style.mono}) * style.size *
             (run.shift == 0 ? 1 : kSmaller);
  }
  return width;
}

TextStyle Canvas::fitted(std::string_view text, TextStyle style, double width) {
  const double now = width_of(text, style);
  if (now > width) style.size *= width / now;
  return style;
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  const std::vector<Run> runs = runs_of(text);
  if (runs.empty()) return;
  const double width = width_of(text, style);
  const double before = style.anchor == Anchor::kStart    ? 0
                        : style.anchor == Anchor::kMiddle ? width / 2
                                                          : width;
  const double above = style.size * kAbove, below = style.size * kBelow;
  std::string plain;
  for (const Run& run : runs) plain += run.text;
  texts_.push_back({plain, style.upwards ? Box{x - above, y + before - width, above + below, width}
                                         : Box{x - before, y - above, width, above + below}});
  body_ += style.upwards ? fmt::format("<text transform=\"translate({} {}) rotate(-90)\"",
                                       number(x), number(y))
                         : fmt::format("<text x=\"{}\" y=\"{}\"", number(x), number(y));
  if (style.size != 8) body_ += fmt::format(" font-size=\"{}\"", number(style.size));
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (style.italic) body_ += " font-style=\"italic\"";
  if (style.mono) body_ += fmt::format(" font-family=\"{}\"", kMono);
  if (style.mono || runs.size() > 1) body_ += " xml:space=\"preserve\"";
  if (style.colour != kInk) body_ += fmt::format(" fill=\"{}\"", style.colour);
  if (style.anchor != Anchor::kStart)
    body_ += fmt::format(" text-anchor=\"{}\"", style.anchor == Anchor::kMiddle ? "middle" : "end");
  body_ += '>';
  int shift = 0;
  for (const Run& run : runs) {
    if (run.shift == 0 && shift == 0) {
      body_ += xml_escaped(run.text);
      continue;
    }
    const auto place = [&](int at) { return at == 0 ? 0.0 : style.size * (at < 0 ? kDown : -kUp); };
    body_ += fmt::format("<tspan dy=\"{}\"", number(place(run.shift) - place(shift)));
    if (run.shift != 0) body_ += fmt::format(" font-size=\"{}\"", number(style.size * kSmaller));
    body_ += fmt::format(">{}</tspan>", xml_escaped(run.text));
    shift = run.shift;
  }
  body_ += "</text>\n";
}

std::vector<PlacedText> Canvas::cut_off() const {
  std::vector<PlacedText> out;
  for (const PlacedText& text : texts_) {
    if (text.box.x < 0 || text.box.y < 0 || text.box.right() > width_ ||
        text.box.bottom() > height_)
      out.push_back(text);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> Canvas::overlaps() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    for (std::size_t k = i + 1; k < texts_.size(); ++k) {
      const Box &a = texts_[i].box, &b = texts_[k].box;
      const double least = std::min(a.width * a.height, b.width * b.height);
      if (common_area(a, b) > least / 10) pairs.emplace_back(texts_[i].text, texts_[k].text);
    }
  }
  return pairs;
}

std::string Canvas::svg(const FigureMetadata& metadata) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}pt\" height=\"{1}pt\" "
             "viewBox=\"0 0 {0} {1}\" font-family=\"{2}\" font-size=\"8\" fill=\"{3}\">\n"
             "<title>{4}</title>\n<desc>{5}</desc>\n<metadata>{6}</metadata>\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
             number(width_), number(height_), kSans, kInk, xml_escaped(metadata.title),
             xml_escaped(metadata.description), xml_escaped(metadata.command)) +
         body_ + "</svg>\n";
}

}  // namespace shellgame
