#include "shellgame/report/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shellgame/report/line_chart.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr double kTickSize = 3, kSmall = 7;

double part_of(const Axis& axis, double value) {
  return axis.log ? std::log(value / axis.least) / std::log(axis.most / axis.least)
                  : (value - axis.least) / (axis.most - axis.least);
}

}  // namespace

std::string axis_number(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size < 1e-4 || size >= 1e7)) return fmt::format("{:.3g}", value);
  if (size >= 1e4 && std::fmod(value, 100) == 0) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:.6g}", value);
}

Axis linear_axis(double least, double most, const std::string& label, int ticks) {
  Axis axis{.least = least, .most = most, .log = false, .label = label, .ticks = {}};
  for (const double tick : nice_ticks(least, most, ticks))
    axis.ticks.push_back({tick, axis_number(std::round(tick * 1e9) / 1e9)});
  return axis;
}

Axis share_axis(const std::string& label) {
  Axis axis = linear_axis(0, 1, label);
  axis.most = 1.03;  // a line at 1 is not the frame
  return axis;
}

Axis log_axis(double least, double most, const std::string& label) {
  if (least <= 0 || most <= least) wrong_use("a logarithmic axis must have numbers above 0");
  Axis axis{.least = least, .most = most, .log = true, .label = label, .ticks = {}};
  const int first = static_cast<int>(std::ceil(std::log10(least) - 1e-9)),
            last = static_cast<int>(std::floor(std::log10(most) + 1e-9));
  int step = 1;
  for (const int wider : {2, 5, 10, 20, 50, 100}) {
    if ((last - first) / step < 7) break;
    step = wider;
  }
  for (int power = static_cast<int>(std::ceil(static_cast<double>(first) / step)) * step;
       power <= last; power += step) {
    axis.ticks.push_back({std::pow(10.0, power), power == 0   ? "1"
                                                 : power == 1 ? "10"
                                                              : fmt::format("10^{{{}}}", power)});
  }
  return axis;
}

Axis points_axis(std::vector<double> points, const std::string& label) {
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.empty() || points[0] <= 0) wrong_use("an axis of points must have some, all above 0");
  const double room = points.size() == 1 ? 2 : std::pow(points.back() / points.front(), 0.05);
  Axis axis{.least = points.front() / room,
            .most = points.back() * room,
            .log = true,
            .label = label,
            .ticks = {}};
  for (const double point : points) axis.ticks.push_back({point, axis_number(point)});
  return axis;
}

Axis names_axis(const std::vector<std::string>& names, const std::string& label) {
  Axis axis{.least = -0.6,
            .most = static_cast<double>(names.size()) - 0.4,
            .log = false,
            .label = label,
            .ticks = {}};
  for (std::size_t i = 0; i < names.size(); ++i)
    axis.ticks.push_back({static_cast<double>(i), names[i]});
  return axis;
}

Panel::Panel(Canvas& canvas, const Box& inner, Axis x, Axis y, const std::string& title)
    : canvas_(canvas), inner_(inner), x_(std::move(x)), y_(std::move(y)), title_(title) {
  for (const Axis* axis : {&x_, &y_}) {
    if (!(axis->most > axis->least) || (axis->log && axis->least <= 0))
      wrong_use("an axis must go from a number to a larger one, not from {} to {}", axis->least,
                axis->most);
  }
}

double Panel::across(double x) const { return inner_.x + part_of(x_, x) * inner_.width; }
double Panel::up(double y) const {
  return inner_.bottom() - part_of(y_, std::clamp(y, y_.least, y_.most)) * inner_.height;
}

void Panel::draw_frame() {
  double widest = 0;
  for (const Tick& tick : y_.ticks) {
    const double y = up(tick.at);
    canvas_.line(inner_.x, y, inner_.right(), y, {.colour = kLightGrey, .width = 0.5});
    const TextStyle style{.size = kSmall, .anchor = Anchor::kEnd};
    canvas_.text(inner_.x - kTickSize - 1.5, y + 2.5, tick.name, style);
    widest = std::max(widest, Canvas::width_of(tick.name, style));
  }
  double last = -1e9;
  bool upright = false;  // names that have no room side by side stand upright
  const TextStyle named{.size = kSmall, .anchor = Anchor::kMiddle};
  if (!x_.log) {
    for (std::size_t i = 1; i < x_.ticks.size(); ++i) {
      const double room = across(x_.ticks[i].at) - across(x_.ticks[i - 1].at);
      const double need = (Canvas::width_of(x_.ticks[i].name, named) +
                           Canvas::width_of(x_.ticks[i - 1].name, named)) /
                          2;
      upright = upright || need + 2 > room;
    }
  }
  double deepest = kSmall;
  for (const Tick& tick : x_.ticks) {
    const double x = across(tick.at);
    canvas_.line(x, inner_.bottom(), x, inner_.bottom() + kTickSize, {.width = 0.6});
    const double width = Canvas::width_of(tick.name, named);
    if (upright) {
      canvas_.text(x + 2.5, inner_.bottom() + kTickSize + 2, tick.name,
                   {.size = kSmall, .anchor = Anchor::kEnd, .upwards = true});
      deepest = std::max(deepest, width);
      continue;
    }
    if (x - width / 2 < last + 3) continue;  // no room for this name
    canvas_.text(x, inner_.bottom() + kTickSize + kSmall, tick.name, named);
    last = x + width / 2;
  }
  canvas_.polyline(
      {{inner_.x, inner_.y}, {inner_.x, inner_.bottom()}, {inner_.right(), inner_.bottom()}},
      {.width = 0.8});
  if (!x_.label.empty())
    canvas_.text(inner_.middle(), inner_.bottom() + kTickSize + deepest + 11, x_.label,
                 {.anchor = Anchor::kMiddle});
  if (!y_.label.empty())
    canvas_.text(inner_.x - kTickSize - widest - 7, inner_.centre(), y_.label,
                 {.anchor = Anchor::kMiddle, .upwards = true});
  if (!title_.empty())
    canvas_.text(
        inner_.middle(), inner_.y - 5, title_,
        Canvas::fitted(title_, {.bold = true, .anchor = Anchor::kMiddle}, inner_.width + 10));
}

void Panel::series(const Series& series, const SeriesStyle& style, const std::string& name) {
  if (series.x.size() != series.y.size() || series.low.size() != series.high.size() ||
      (!series.low.empty() && series.low.size() != series.x.size()))
    wrong_use("a curve must have as many y as x, and bands as long");
  if (!series.low.empty()) {
    std::vector<Point> band;
    for (std::size_t i = 0; i < series.x.size(); ++i)
      band.push_back({across(series.x[i]), up(series.high[i])});
    for (std::size_t i = series.x.size(); i-- > 0;)
      band.push_back({across(series.x[i]), up(series.low[i])});
    canvas_.polygon(band, style.colour, 0.2);
  }
  std::vector<Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i)
    points.push_back({across(series.x[i]), up(series.y[i])});
  if (points.size() > 1)
    canvas_.polyline(points, {.colour = style.colour, .width = style.width, .dash = style.dash});
  if (!style.markers) return;
  for (std::size_t i = 0; i < points.size(); ++i)
    canvas_.circle(points[i].x, points[i].y, style.width + 0.6, style.colour,
                   fmt::format("{}: {:.6g}, {:.6g}", name, series.x[i], series.y[i]));
}

void Panel::box(double x, const Quantiles& q, double width, const std::string& colour) {
  const double middle = across(x), left = across(x - width / 2), right = across(x + width / 2);
  canvas_.line(middle, up(q.min), middle, up(q.max),
               {.colour = colour, .width = 0.5, .dash = "1 1.5"});
  canvas_.line(middle, up(q.q05), middle, up(q.q95), {.colour = colour, .width = 1});
  for (const double end : {q.q05, q.q95})
    canvas_.line(middle - (right - left) / 4, up(end), middle + (right - left) / 4, up(end),
                 {.colour = colour, .width = 1});
  const double top = up(q.q75), height = std::max(0.6, up(q.q25) - top);
  canvas_.rectangle({left, top, right - left, height}, "#ffffff");
  canvas_.rectangle({left, top, right - left, height}, colour, {.colour = colour, .width = 0.8}, 0,
                    0.3);
  canvas_.line(left, up(q.median), right, up(q.median), {.colour = kInk, .width = 1.6});
}

void Panel::bar(double x, double value, double width, const std::string& colour,
                std::optional<double> low, std::optional<double> high) {
  const double left = across(x - width / 2), right = across(x + width / 2), top = up(value);
  canvas_.rectangle({left, top, right - left, inner_.bottom() - top}, colour, kNoStroke, 0, 0.85);
  if (!low || !high) return;
  const double middle = (left + right) / 2;
  canvas_.line(middle, up(*low), middle, up(*high), {.width = 0.8});
  for (const double end : {*low, *high})
    canvas_.line(middle - 2, up(end), middle + 2, up(end), {.width = 0.8});
}

void Panel::level(double y) {
  canvas_.line(inner_.x, up(y), inner_.right(), up(y),
               {.colour = kGrey, .width = 0.8, .dash = "2 2"});
}

LegendEntry level_entry(const std::string& name) {
  return {name, {.colour = kGrey, .dash = "2 2", .width = 0.8, .markers = false}};
}

double draw_legend(Canvas& canvas, double x, double y, double width,
                   const std::vector<LegendEntry>& entries) {
  constexpr double kMark = 18, kGap = 4, kBetween = 12, kRow = 11;
  double widest = 0;
  for (const LegendEntry& entry : entries)
    widest = std::max(widest, Canvas::width_of(entry.name, {}));
  const double column = kMark + kGap + widest + kBetween;
  const auto columns = std::max<std::size_t>(
      1, std::min(entries.size(), static_cast<std::size_t>((width + kBetween) / column)));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double left = x + static_cast<double>(i % columns) * column;
    const double base = y + static_cast<double>(i / columns) * kRow;
    const SeriesStyle& style = entries[i].style;
    canvas.line(left, base - 2.8, left + kMark, base - 2.8,
                {.colour = style.colour, .width = style.width, .dash = style.dash});
    if (style.markers) canvas.circle(left + kMark / 2, base - 2.8, style.width + 0.6, style.colour);
    canvas.text(left + kMark + kGap, base, entries[i].name);
  }
  return y + static_cast<double>((entries.size() + columns - 1) / columns) * kRow;
}

}  // namespace shellgame
