// Line charts as SVG: a few curves with bands, axes with ticks, a legend. No library and no
// network; opens in any browser.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shellgame {

struct Curve {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low = {}, high = {};  // a band around it; empty: none
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Curve> curves;
  bool log_x = false;
  double y_least = 0, y_most = 1;
  // A line across, such as the level of chance; not drawn if its name is empty.
  std::string level_name = {};
  double level = 0;
  // Dashed lines from top to bottom with a word at their foot; beyond the curves they are left out.
  std::vector<std::pair<double, std::string>> marks = {};
  std::string note = {};  // below the chart: the command that made it

  std::string svg() const;
};

// Steps of 1, 2 or 5 times a power of ten that cut [least, most] into about `count` parts.
std::vector<double> nice_ticks(double least, double most, int count);

}  // namespace shellgame
