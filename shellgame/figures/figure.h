// A figure of the paper: its picture, the numbers behind it, and where they come from.
#pragma once

#include <string>
#include <vector>

#include "shellgame/report/canvas.h"
#include "shellgame/report/csv_table.h"

namespace shellgame {

class FigureSources;

// All figures have this width, that of a page's text with a little more, in points.
inline constexpr double kFigureWidth = 486;

struct Figure {
  Canvas canvas{kFigureWidth, 100};
  CsvTable table;
  std::string caption;  // what is seen, with its numbers and where they come from
};

struct FigureEntry {
  std::string name, title;
  std::string needs;  // in words; "" for what is computed on the spot
  Figure (*make)(FigureSources&);
  std::vector<std::string> files = {};  // of experiments/uncertainty, without which it is not made
};

// In the order of the paper.
const std::vector<FigureEntry>& all_figures();
// Throws UsageError with the nearest name.
const FigureEntry& find_figure(const std::string& name);

// "(a)" and a heading, at the upper left corner of a part.
void draw_heading(Canvas& canvas, double x, double y, const std::string& letter,
                  const std::string& text);

// One file each.
Figure hierarchy_figure(FigureSources& sources);
Figure overview_figure(FigureSources& sources);
Figure representations_figure(FigureSources& sources);
Figure spacing_figure(FigureSources& sources);
Figure reveals_figure(FigureSources& sources);
Figure extrapolation_figure(FigureSources& sources);
Figure betas_figure(FigureSources& sources);
Figure beta_grid_figure(FigureSources& sources);
Figure key_grid_figure(FigureSources& sources);
Figure intervention_figure(FigureSources& sources);
Figure uncertainty_figure(FigureSources& sources);
Figure marginal_updates_figure(FigureSources& sources);
Figure joint_instability_figure(FigureSources& sources);
Figure marginal_decay_figure(FigureSources& sources);
Figure worked_example_figure(FigureSources& sources);
// Of the experiment under uncertainty, which is not the paper's.
Figure uncertainty_cycle_figure(FigureSources& sources);
Figure uncertainty_regret_figure(FigureSources& sources);
Figure norms_figure(FigureSources& sources);
Figure precision_figure(FigureSources& sources);
Figure beta_law_figure(FigureSources& sources);

}  // namespace shellgame
