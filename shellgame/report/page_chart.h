// Charts inside a page: SVG whose colours the page's style gives (light and dark), a legend as
// text, and values that show when a pointer rests on the chart, with the page's script or without.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shellgame/report/line_chart.h"

namespace shellgame {

// A curve of line_chart.h with what a page adds; one without a name is not in the legend. Points
// that are not finite are left out.
struct PageCurve {
  Curve curve;
  int colour = 0;  // of kPageColours
  // Circles on the curve: where, and what they mean.
  std::vector<std::pair<double, std::string>> marks = {};
};
inline constexpr int kPageColours = 7;  // as many as the style has; more get dashes

struct PageChart {
  std::string title, x_label, y_label;
  std::vector<PageCurve> curves;
  bool log_x = false;
  double y_least = 0, y_most = 0;  // equal: from 0 to what the curves need
  std::string level_name = {};     // a line across; not drawn if its name is empty
  double level = 0;
  // Lines from top to bottom: where, and a word or number at the top, or at the foot, where those
  // that would meet stand one above the other.
  std::vector<std::pair<double, std::string>> lines = {};
  bool lines_at_foot = false;
  std::string style = {};  // more classes of the figure

  // <figure> with a caption; "" if there is no point to draw.
  std::string figure() const;
};

// The five numbers of a box, and the ends of its whiskers (5 % and 95 %).
struct BoxMark {
  std::string name;
  double least = 0, q05 = 0, q25 = 0, median = 0, q75 = 0, q95 = 0, most = 0;
};
// Boxes below each other over one axis.
std::string box_figure(const std::string& title, const std::string& label,
                       const std::vector<BoxMark>& boxes);

}  // namespace shellgame
