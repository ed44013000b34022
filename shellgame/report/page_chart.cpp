#include "shellgame/report/page_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/report/text_width.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

// In units of the view box. Letters are of 12 units, 16 on narrow screens (page.css).
constexpr double kWidth = 480, kHeight = 270, kLetters = 12;
constexpr double kLeft = 66, kRight = 24, kTop = 14, kBottom = 48;
constexpr double kRight_edge = kWidth - kRight, kFloor = kHeight - kBottom;
// More places than this for a pointer would be narrower than a pointer.
constexpr std::size_t kMostStripes = 120;
constexpr std::size_t kMostDots = 40;

struct Frame {
  double x_least = 0, x_most = 1, y_least = 0, y_most = 1;
  bool log_x = false;

  double across(double x) const {
    const double part =
        log_x ? (std::log(x) - std::log(x_least)) / (std::log(x_most) - std::log(x_least))
              : (x - x_least) / (x_most - x_least);
    return kLeft + part * (kRight_edge - kLeft);
  }
  double up(double y) const {
    const double part = (std::clamp(y, y_least, y_most) - y_least) / (y_most - y_least);
    return kFloor - part * (kFloor - kTop);
  }
};

// The curves without points that cannot be drawn.
std::vector<PageCurve> drawable(const PageChart& chart) {
  std::vector<PageCurve> curves;
  for (const PageCurve& one : chart.curves) {
    PageCurve kept = one;
    kept.curve = {one.curve.name, {}, {}};
    const bool band = !one.curve.low.empty();
    for (std::size_t i = 0; i < one.curve.x.size(); ++i) {
      const double x = one.curve.x[i];
      if (!std::isfinite(x) || !std::isfinite(one.curve.y[i]) || (chart.log_x && x <= 0)) continue;
      kept.curve.x.push_back(x);
      kept.curve.y.push_back(one.curve.y[i]);
      if (!band) continue;
      kept.curve.low.push_back(one.curve.low[i]);
      kept.curve.high.push_back(one.curve.high[i]);
    }
    if (!kept.curve.x.empty()) curves.push_back(std::move(kept));
  }
  return curves;
}

Frame frame_of(const PageChart& chart, const std::vector<PageCurve>& curves) {
  Frame frame{.x_least = curves[0].curve.x[0], .x_most = curves[0].curve.x[0]};
  frame.log_x = chart.log_x;
  frame.y_least = chart.y_least;
  frame.y_most = chart.y_most;
  double least = 0, most = 0;
  for (const PageCurve& one : curves) {
    const auto [left, right] = std::ranges::minmax(one.curve.x);
    frame.x_least = std::min(frame.x_least, left);
    frame.x_most = std::max(frame.x_most, right);
    for (const auto* values : {&one.curve.y, &one.curve.low, &one.curve.high}) {
      for (const double y : *values) {
        least = std::min(least, y);
        most = std::max(most, y);
      }
    }
  }
  if (frame.x_least == frame.x_most) frame.x_most = frame.x_least + 1;
  if (chart.y_least == chart.y_most) {
    frame.y_least = least;
    frame.y_most = most > least ? most + 0.04 * (most - least) : least + 1;
  }
  return frame;
}

std::vector<double> x_ticks(const Frame& frame, const std::vector<PageCurve>& curves) {
  if (!frame.log_x) return nice_ticks(frame.x_least, frame.x_most, 5);
  std::vector<double> all, kept;  // the points themselves, as far as there is room
  for (const PageCurve& one : curves) all.insert(all.end(), one.curve.x.begin(), one.curve.x.end());
  std::ranges::sort(all);
  for (const double tick : all) {
    if (kept.empty() || frame.across(tick) - frame.across(kept.back()) > 48) kept.push_back(tick);
  }
  return kept;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     xml_escaped(text));
}

std::string points_of(const Frame& frame, const std::vector<double>& x,
                      const std::vector<double>& y) {
  std::string points;
  for (std::size_t i = 0; i < x.size(); ++i) {
    points += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", frame.across(x[i]), frame.up(y[i]));
  }
  return points;
}

std::string colour_class(int index) {
  return fmt::format("c{} d{}", index % kPageColours, index / kPageColours % 3);
}

std::string axes(const PageChart& chart, const Frame& frame, const std::vector<PageCurve>& curves) {
  std::string out;
  for (const double tick : nice_ticks(frame.y_least, frame.y_most, 4)) {
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft,
                       frame.up(tick), kRight_edge);
    out += text_at(kLeft - 6, frame.up(tick) + 4, "end", tick_number(tick));
  }
  for (const double tick : x_ticks(frame, curves)) {
    out +=
        fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>\n", frame.across(tick), kFloor);
    out += text_at(frame.across(tick), kFloor + 18, "middle", tick_number(tick));
  }
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", kLeft, kTop,
                     kFloor, kRight_edge);
  out += text_at((kLeft + kRight_edge) / 2, kHeight - 8, "middle", chart.x_label);
  double taken = -1e9, up = 0;  // the end of the last word; how far words stand above the first row
  for (const auto& [x, meaning] : chart.lines) {
    if (x < frame.x_least || x > frame.x_most) continue;
    const double at = frame.across(x);
    out += fmt::format("<path class=\"stage\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", at, kTop, kFloor);
    const double width = kLetters * text_width(meaning);
    const bool left = at + 3 + width > kWidth;
    const double begin = left ? at - 3 - width : at + 3;
    if (begin < taken && !chart.lines_at_foot) continue;
    up = begin < taken ? up + kLetters + 2 : 0;
    taken = std::max(taken, begin + std::max(17.0, width + 4));
    out += text_at(left ? at - 3 : at + 3, chart.lines_at_foot ? kFloor - 6 - up : kTop + 9,
                   left ? "end" : "start", meaning);
  }
  if (!chart.level_name.empty() && chart.level >= frame.y_least && chart.level <= frame.y_most) {
    out += fmt::format("<path class=\"level\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft,
                       frame.up(chart.level), kRight_edge);
    out += text_at(kRight_edge, frame.up(chart.level) - 4, "end", chart.level_name);
  }
  return out;
}

std::string curve_of(const PageCurve& one, const Frame& frame, bool dots) {
  const Curve& curve = one.curve;
  const std::string colour = colour_class(one.colour);
  std::string out;
  if (!curve.low.empty() && curve.low != curve.high) {
    std::vector<double> x = curve.x, y = curve.high;
    x.insert(x.end(), curve.x.rbegin(), curve.x.rend());
    y.insert(y.end(), curve.low.rbegin(), curve.low.rend());
    out +=
        fmt::format("<polygon class=\"band {}\" points=\"{}\"/>\n", colour, points_of(frame, x, y));
  }
  out += fmt::format("<polyline class=\"curve {}\" points=\"{}\"/>\n", colour,
                     points_of(frame, curve.x, curve.y));
  if (dots) {
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      out += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>\n",
                         colour, frame.across(curve.x[i]), frame.up(curve.y[i]));
  }
  return out;
}

// Above the stripes, so that a pointer finds them.
std::string marks_of(const PageCurve& one, const Frame& frame) {
  const Curve& curve = one.curve;
  std::string out;
  for (const auto& [x, meaning] : one.marks) {
    const auto after = std::ranges::lower_bound(curve.x, x);
    if (after == curve.x.end()) continue;
    const double y = curve.y[static_cast<std::size_t>(after - curve.x.begin())];
    out += fmt::format(
        "<circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
        "r=\"3\"><title>{}</title></circle>\n",
        colour_class(one.colour), frame.across(*after), frame.up(y), xml_escaped(meaning));
  }
  return out;
}

// What the curves have at x, a line each.
std::string values_at(const PageChart& chart, const std::vector<PageCurve>& curves, double x) {
  std::string text = fmt::format("{} {}", chart.x_label, short_number(x));
  if (x == std::floor(x) && std::abs(x) < 1000) text = fmt::format("{} {}", chart.x_label, x);
  for (const PageCurve& one : curves) {
    const auto at = std::ranges::find(one.curve.x, x);
    if (at == one.curve.x.end()) continue;
    const auto i = static_cast<std::size_t>(at - one.curve.x.begin());
    text += fmt::format("\n{}: {}", one.curve.name.empty() ? chart.y_label : one.curve.name,
                        short_number(one.curve.y[i]));
    if (!one.curve.low.empty() && one.curve.low[i] != one.curve.high[i]) {
      text += fmt::format(" ({} to {})", short_number(one.curve.low[i]),
                          short_number(one.curve.high[i]));
    }
  }
  return text;
}

// Transparent stripes, one for each place that has values: a browser shows their titles itself,
// the page's script does so at once and with a line across the chart.
std::string stripes(const PageChart& chart, const Frame& frame,
                    const std::vector<PageCurve>& curves) {
  std::vector<double> places, kept;
  for (const PageCurve& one : curves)
    places.insert(places.end(), one.curve.x.begin(), one.curve.x.end());
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const std::size_t every = (places.size() + kMostStripes - 1) / kMostStripes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i % every == 0 || i + 1 == places.size()) kept.push_back(places[i]);
  }
  std::string out = "<g class=\"hits\">\n";
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double at = frame.across(kept[i]);
    const double left = i == 0 ? kLeft : (frame.across(kept[i - 1]) + at) / 2;
    const double right = i + 1 == kept.size() ? kRight_edge : (at + frame.across(kept[i + 1])) / 2;
    out += fmt::format(
        "<rect data-x=\"{:.1f}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"><title>{}"
        "</title></rect>\n",
        at, left, kTop, std::max(0.1, right - left), kFloor - kTop,
        xml_escaped(values_at(chart, curves, kept[i])));
  }
  return out + "</g>\n";
}

std::string opening(const std::string& title, const std::string& style, double height) {
  return fmt::format(
      "<figure class=\"chart{}{}\"><figcaption>{}</figcaption>\n<svg viewBox=\"0 0 {} {}\" "
      "role=\"img\" aria-label=\"{}\" tabindex=\"0\">\n",
      style.empty() ? "" : " ", style, xml_escaped(title), kWidth, height, xml_escaped(title));
}

}  // namespace

std::string PageChart::figure() const {
  const std::vector<PageCurve> drawn = drawable(*this);
  if (drawn.empty()) return "";
  const Frame frame = frame_of(*this, drawn);
  std::string out = opening(title, style, kHeight);
  out += axes(*this, frame, drawn);
  const bool dots = std::ranges::all_of(
      drawn, [](const PageCurve& one) { return one.curve.x.size() <= kMostDots; });
  for (const PageCurve& one : drawn) out += curve_of(one, frame, dots);
  out += fmt::format("<path class=\"cross\" d=\"M0 {}V{}\"/>\n", kTop, kFloor);
  out += stripes(*this, frame, drawn);
  for (const PageCurve& one : drawn) out += marks_of(one, frame);
  out += "</svg>\n";
  if (drawn.size() > 1 || !drawn[0].curve.name.empty()) {
    out += "<ul class=\"legend\">";
    for (const PageCurve& one : drawn) {
      out += fmt::format(
          "<li><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path class=\"curve "
          "{}\" "
          "d=\"M0 4H24\"/></svg>{}</li>",
          colour_class(one.colour), xml_escaped(one.curve.name));
    }
    out += "</ul>";
  }
  return out + "</figure>\n";
}

std::string box_figure(const std::string& title, const std::string& label,
                       const std::vector<BoxMark>& boxes) {
  if (boxes.empty()) return "";
  Frame frame{.x_least = 0, .x_most = 0};
  for (const BoxMark& box : boxes) {
    if (!std::isfinite(box.least) || !std::isfinite(box.most)) return "";
    frame.x_least = std::min(frame.x_least, box.least);
    frame.x_most = std::max(frame.x_most, box.most);
  }
  if (frame.x_least == frame.x_most) frame.x_most = frame.x_least + 1;
  frame.x_most += 0.01 * (frame.x_most - frame.x_least);  // room for a tick at 2 above 1.9999
  constexpr double kRow = 24, kNames = 126;               // the names' column
  const double floor = kTop + kRow * static_cast<double>(boxes.size()), height = floor + kBottom;
  const auto across = [&](double x) {
    return kNames + (x - frame.x_least) / (frame.x_most - frame.x_least) * (kRight_edge - kNames);
  };
  std::string out = opening(title, "", height);
  for (const double tick : nice_ticks(frame.x_least, frame.x_most, 5)) {
    out += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>\n", across(tick), kTop, floor);
    out += text_at(across(tick), floor + 18, "middle", tick_number(tick));
  }
  out += text_at((kNames + kRight_edge) / 2, height - 8, "middle", label);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const BoxMark& box = boxes[i];
    const double y = kTop + kRow * (static_cast<double>(i) + 0.5);
    out += text_at(kNames - 8, y + 4, "end", box.name);
    out += fmt::format(
        "<path class=\"whisker\" d=\"M{:.1f} {}H{:.1f}\"/>\n<path class=\"whisker thin\" "
        "d=\"M{:.1f} "
        "{}H{:.1f}\"/>\n<rect class=\"box\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" "
        "height=\"14\"/>\n"
        "<path class=\"median\" d=\"M{:.1f} {}v14\"/>\n",
        across(box.q05), y, across(box.q95), across(box.least), y, across(box.most),
        across(box.q25), y - 7, std::max(1.0, across(box.q75) - across(box.q25)),
        across(box.median), y - 7);
    out += fmt::format(
        "<g class=\"hits\"><rect x=\"0\" y=\"{}\" width=\"{}\" "
        "height=\"{}\"><title>{}</title></rect>"
        "</g>\n",
        y - kRow / 2, kWidth, kRow,
        xml_escaped(fmt::format("{}\nmedian {}\nmiddle half {} to {}\n90 % {} to {}\nall {} to {}",
                                box.name, short_number(box.median), short_number(box.q25),
                                short_number(box.q75), short_number(box.q05), short_number(box.q95),
                                short_number(box.least), short_number(box.most))));
  }
  return out + "</svg></figure>\n";
}

}  // namespace shellgame
