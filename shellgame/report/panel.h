// A chart inside a canvas: a frame with two axes, and what is drawn in it. Several panels make a
// grid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shellgame/report/canvas.h"

namespace shellgame {

struct Tick {
  double at = 0;
  std::string name;
};

struct Axis {
  double least = 0, most = 1;
  bool log = false;
  std::string label = {};
  std::vector<Tick> ticks = {};
};

// An axis with round ticks; a logarithmic one has powers of ten.
Axis linear_axis(double least, double most, const std::string& label, int ticks = 5);
// From 0 to a little above 1, for shares and accuracies.
Axis share_axis(const std::string& label);
Axis log_axis(double least, double most, const std::string& label);
// Points that are not evenly spaced, each with a tick of its own (on a logarithmic axis).
Axis points_axis(std::vector<double> points, const std::string& label);
// Names side by side, at 0, 1, ...
Axis names_axis(const std::vector<std::string>& names, const std::string& label);
// "0.25", "64", "16k", "1e-30".
std::string axis_number(double value);

struct Series {
  std::vector<double> x, y, low = {}, high = {};  // a band, if not empty
};

struct SeriesStyle {
  std::string colour = kBlue;
  std::string dash = {};
  double width = 1.4;
  bool markers = true;
};

// As boxes are drawn: the box from q25 to q75, whiskers from q05 to q95, thin ends to min and max.
struct Quantiles {
  double min = 0, q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, max = 0;
};

class Panel {
 public:
  // `inner` is the frame; names of ticks, labels and title lie outside of it.
  Panel(Canvas& canvas, const Box& inner, Axis x, Axis y, const std::string& title = {});
  void draw_frame();

  double across(double x) const;
  double up(double y) const;  // held within the frame
  const Box& inner() const { return inner_; }

  void series(const Series& series, const SeriesStyle& style, const std::string& name = {});
  void box(double x, const Quantiles& quantiles, double width, const std::string& colour);
  void bar(double x, double value, double width, const std::string& colour,
           std::optional<double> low = {}, std::optional<double> high = {});
  // A line across; level_entry() names it in the legend.
  void level(double y);

 private:
  Canvas& canvas_;
  Box inner_;
  Axis x_, y_;
  std::string title_;
};

struct LegendEntry {
  std::string name;
  SeriesStyle style;
};
LegendEntry level_entry(const std::string& name);
// In rows from (x, y), as wide as `width` allows; returns the y below it.
double draw_legend(Canvas& canvas, double x, double y, double width,
                   const std::vector<LegendEntry>& entries);

}  // namespace shellgame
