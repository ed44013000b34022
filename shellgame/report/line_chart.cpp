#include "shellgame/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/report/canvas.h"
#include "shellgame/report/text_width.h"
#include "shellgame/report/xml_text.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kWidth = 720, kHeight = 420;
constexpr double kLeft = 64, kRight = 24, kTop = 44, kBottom = 92;
constexpr double kFont = 13, kNoteFont = 10;
constexpr double kLegendRow = 16, kNoteRow = 13;

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

struct Frame {
  double x_least, x_most, y_least, y_most;
  bool log_x;

  double across(double x) const {
    const double at =
        log_x ? (std::log(x) - std::log(x_least)) / (std::log(x_most) - std::log(x_least))
              : (x - x_least) / (x_most - x_least);
    return kLeft + at * (kWidth - kLeft - kRight);
  }
  double up(double y) const {
    const double at = (std::clamp(y, y_least, y_most) - y_least) / (y_most - y_least);
    return kHeight - kBottom - at * (kHeight - kTop - kBottom);
  }
};

Frame frame_of(const LineChart& chart) {
  Frame frame{0, 0, chart.y_least, chart.y_most, chart.log_x};
  bool first = true;
  for (const Curve& curve : chart.curves) {
    for (const double x : curve.x) {
      frame.x_least = first ? x : std::min(frame.x_least, x);
      frame.x_most = first ? x : std::max(frame.x_most, x);
      first = false;
    }
  }
  if (first) wrong_use("a chart must have a curve with a point");
  if (chart.log_x && frame.x_least <= 0) wrong_use("a logarithmic axis must have numbers above 0");
  if (frame.x_least == frame.x_most) frame.x_most = frame.x_least + 1;
  return frame;
}

std::vector<double> x_ticks(const LineChart& chart, const Frame& frame) {
  if (!chart.log_x) return nice_ticks(frame.x_least, frame.x_most, 6);
  std::vector<double> ticks;  // the points themselves, as far as there is room for their numbers
  for (const Curve& curve : chart.curves) ticks.insert(ticks.end(), curve.x.begin(), curve.x.end());
  std::ranges::sort(ticks);
  double last = -1e9;
  std::vector<double> kept;
  for (const double tick : ticks) {
    if (frame.across(tick) - last < 34) continue;
    kept.push_back(tick);
    last = frame.across(tick);
  }
  return kept;
}

std::string text_at(double x, double y, const std::string& text, const std::string& more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more,
                     xml_escaped(text));
}

// Where the entries of the legend begin, row by row; columns are as wide as the longest name.
struct Legend {
  std::size_t columns, rows;
  double column;  // width
};

Legend legend_of(const std::vector<Curve>& curves) {
  constexpr double kLine = 30, kGap = 18, kUsual = 165;
  double column = kUsual;
  for (const Curve& curve : curves)
    column = std::max(column, kLine + kFont * text_width(curve.name) + kGap);
  const auto fit = static_cast<std::size_t>((kWidth - kLeft + kGap) / column);
  const std::size_t columns = std::max<std::size_t>(1, std::min<std::size_t>(4, fit));
  return {columns, (curves.size() + columns - 1) / columns, column};
}

// Cut at spaces into lines that are not wider than the chart, where a word is not.
std::vector<std::string> note_lines(const std::string& note) {
  const double room = (kWidth - kLeft - 8) / kNoteFont;
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < note.size();) {
    std::size_t end = std::min(note.find(' ', begin), note.size());
    while (end < note.size()) {
      const std::size_t next = std::min(note.find(' ', end + 1), note.size());
      if (text_width(note.substr(begin, next - begin), {.mono = true}) > room) break;
      end = next;
    }
    lines.push_back((lines.empty() ? "" : "  ") + note.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string points_of(const Frame& frame, const std::vector<double>& x,
                      const std::vector<double>& y) {
  std::string points;
  for (std::size_t i = 0; i < x.size(); ++i)
    points += fmt::format("{:.1f},{:.1f} ", frame.across(x[i]), frame.up(y[i]));
  return points;
}

// Names that would meet stand one above the other, and none leaves the chart.
std::string marks_of(const LineChart& chart, const Frame& frame) {
  constexpr double kMarkFont = 11, kMarkRow = 14, kGap = 4;
  std::vector<std::pair<double, std::string>> marks = chart.marks;
  std::ranges::sort(marks);
  std::string out;
  double taken = 0, up = 0;  // to the right of which the lowest row is free; the row in use
  for (const auto& [x, name] : marks) {
    if (x < frame.x_least || x > frame.x_most) continue;
    const double at = frame.across(x), width = kMarkFont * text_width(name);
    const bool left = at + kGap + width > kWidth - kRight;
    const double begin = left ? at - kGap - width : at + kGap;
    up = begin < taken ? up + kMarkRow : 0;
    taken = std::max(taken, begin + width + kGap);
    out += fmt::format(
        "<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"#777\" stroke-dasharray=\"3 3\"/>\n", at, kTop,
        kHeight - kBottom);
    out += text_at(begin, kHeight - kBottom - 6 - up, name,
                   fmt::format("font-size=\"{}\" fill=\"#777\"", kMarkFont));
  }
  return out;
}

}  // namespace

std::vector<double> nice_ticks(double least, double most, int count) {
  const double rough = (most - least) / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double i = std::ceil(least / step - 1e-9); i * step <= most + 1e-9 * step; ++i)
    ticks.push_back(i * step == 0 ? 0 : i * step);
  return ticks;
}

std::string LineChart::svg() const {
  const Frame frame = frame_of(*this);
  const Legend legend = legend_of(curves);
  const std::vector<std::string> notes = note_lines(note);
  const double height = kHeight + kLegendRow * static_cast<double>(legend.rows - 1) +
                        kNoteRow * static_cast<double>(std::max<std::size_t>(1, notes.size()) - 1);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{3}\" fill=\"#222\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, height, xml_escaped(title), kFont);
  out += text_at(kLeft, 24, title, "font-size=\"15\" font-weight=\"bold\"");
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (const double tick : nice_ticks(y_least, y_most, 5)) {
    const double y = frame.up(tick);
    out += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#ddd\"/>\n", kLeft, y, right);
    out += text_at(kLeft - 8, y + 4.5, number_text(tick), "text-anchor=\"end\"");
  }
  for (const double tick : x_ticks(*this, frame)) {
    const double x = frame.across(tick);
    out += fmt::format("<path d=\"M{:.1f} {:.1f}v5\" stroke=\"#222\"/>\n", x, bottom);
    out += text_at(x, bottom + 19, number_text(tick), "text-anchor=\"middle\"");
  }
  out += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#222\"/>\n",
                     kLeft, kTop, bottom, right);
  out += text_at((kLeft + right) / 2, bottom + 38, x_label, "text-anchor=\"middle\"");
  out += fmt::format(
      "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kTop + bottom) / 2, xml_escaped(y_label));
  if (!level_name.empty()) {
    out += fmt::format(
        "<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#777\" stroke-dasharray=\"2 4\"/>\n", kLeft,
        frame.up(level), right);
    out += text_at(right, frame.up(level) - 5, level_name, "text-anchor=\"end\" fill=\"#777\"");
  }
  out += marks_of(*this, frame);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Curve& curve = curves[i];
    const char* const colour = colour_of(i);
    if (!curve.low.empty()) {
      std::vector<double> x = curve.x, y = curve.high;
      x.insert(x.end(), curve.x.rbegin(), curve.x.rend());
      y.insert(y.end(), curve.low.rbegin(), curve.low.rend());
      out += fmt::format("<polygon points=\"{}\" fill=\"{}\" opacity=\"0.18\"/>\n",
                         points_of(frame, x, y), colour);
    }
    out += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{}\"/>\n",
        points_of(frame, curve.x, curve.y), colour, dash_of(i));
    if (curve.x.size() <= 40) {
      for (std::size_t k = 0; k < curve.x.size(); ++k)
        out += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {}, "
            "{:.4f}</title></circle>\n",
            frame.across(curve.x[k]), frame.up(curve.y[k]), colour, xml_escaped(curve.name),
            number_text(curve.x[k]), curve.y[k]);
    }
    const double x = kLeft + static_cast<double>(i % legend.columns) * legend.column,
                 y = bottom + 58 + static_cast<double>(i / legend.columns) * kLegendRow;
    out += fmt::format(
        "<path d=\"M{:.1f} {:.1f}h24\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{}\"/>\n",
        x, y - 4, colour, dash_of(i));
    out += text_at(x + 30, y, curve.name, "");
  }
  for (std::size_t i = 0; i < notes.size(); ++i)
    out += text_at(
        kLeft, height - 8 - kNoteRow * static_cast<double>(notes.size() - 1 - i), notes[i],
        fmt::format(
            "font-size=\"{}\" fill=\"#777\" font-family=\"monospace\" xml:space=\"preserve\"",
            kNoteFont));
  return out + "</svg>\n";
}

}  // namespace shellgame
