// Curves over seeds from files of results: for each arm the median of a measure along an axis, with
// a band from the least to the largest seed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/figures/figure.h"
#include "shellgame/figures/sources.h"
#include "shellgame/report/panel.h"

namespace shellgame {

struct ArmCurve {
  std::string arm;
  std::map<double, std::vector<std::pair<std::uint64_t, double>>> points;  // x: seed, value
  std::size_t seeds() const;
  Series series() const;
};

// What records say of a measure `y` along `x`, where they have all these values ("schedule": "M5");
// records without x or y are passed over. Arms in the order of the file, or only these.
using RecordFilter = std::vector<std::pair<std::string, std::string>>;
std::vector<ArmCurve> arm_curves(const std::vector<TableRecord>& records, const RecordFilter& where,
                                 const std::string& x, const std::string& y,
                                 const std::vector<std::string>& arms = {});

// Draws them, each arm in its own colour, and writes every number into the table after `words`.
void draw_arm_curves(Figure& figure, Panel& panel, const std::vector<ArmCurve>& curves,
                     const std::vector<CsvTable::Field>& words);
SeriesStyle arm_style(const std::string& arm);
std::vector<LegendEntry> arm_legend(const std::vector<ArmCurve>& curves);

}  // namespace shellgame
