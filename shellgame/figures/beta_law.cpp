// The beta law: a swap that happens with probability p is I - 2p kk', with the eigenvalue 1 - 2p.
// So eigenvalues in [0,1] should suffice for p up to a half, and fail above.
#include <fmt/format.h>

#include "shellgame/figures/arm_curves.h"
#include "shellgame/text/error.h"

namespace shellgame {

Figure beta_law_figure(FigureSources& sources) {
  const auto curves =
      arm_curves(sources.records("beta-law.json"), {}, "task.probability", "regret");
  if (curves.empty()) fail("'beta-law.json' has no regrets by probability");
  Figure figure{.canvas = Canvas(kFigureWidth, 230),
                .table = CsvTable({"arm", "seed", "probability", "regret"}),
                .caption = {}};
  Axis x = linear_axis(0.2, 1.05, "probability p of every swap", 5);
  x.ticks = {{0.25, "0.25"}, {0.5, "0.5"}, {0.75, "0.75"}, {1, "1"}};
  Panel panel(figure.canvas, {110, 24, 270, 140}, x, log_axis(1e-4, 2, "regret, nats"),
              "eigenvalue 1 - 2p: from 0.5 to -1");
  panel.draw_frame();
  draw_arm_curves(figure, panel, curves, {});
  const double bottom = draw_legend(figure.canvas, 110, 206, 330, arm_legend(curves));
  figure.canvas.set_height(bottom + 2);
  figure.caption =
      "Regret at the trained length, 32 commands, of models trained with one probability p of "
      "every "
      "swap, S_3. Medians over seeds, bands from the least to the largest. From "
      "experiments/uncertainty/beta-law.json.";
  return figure;
}

}  // namespace shellgame
