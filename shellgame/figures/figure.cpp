#include "shellgame/figures/figure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shellgame/text/error.h"
#include "shellgame/text/nearest_name.h"

namespace shellgame {

const std::vector<FigureEntry>& all_figures() {
  static const char* const kCompared =
      "results of several architectures, published or of runs; else small ones are trained";
  static const char* const kInside =
      "runs of DeltaNet or DeltaProduct [-1,1] on permutations, with their models; else small ones "
      "are trained";
  static const char* const kUncertain = "results of experiments/uncertainty";
  static const std::vector<FigureEntry> figures = {
      {"hierarchy", "The state-tracking hierarchy", kCompared, hierarchy_figure},
      {"overview", "A trace, and how far three architectures follow such traces", kCompared,
       overview_figure},
      {"representations", "Three representations of one trace", "", representations_figure},
      {"spacing", "Accuracy against reveal spacing, Transformers",
       "results of experiments/spacing/experiment.toml; else small runs are trained",
       spacing_figure},
      {"reveals", "Accuracy of each reveal by its place", kCompared, reveals_figure},
      {"extrapolation", "Beyond the trained numbers of commands and spacing", kCompared,
       extrapolation_figure},
      {"betas", "Beta per layer and head, principal components of keys", kInside, betas_figure},
      {"intervention", "The range of beta scaled, head by head", kInside, intervention_figure},
      {"uncertainty", "Three sources of uncertainty", "", uncertainty_figure},
      {"marginal-updates", "Mixing and reveal of the marginal state", "", marginal_updates_figure},
      {"joint-instability", "The joint representation's instability", "", joint_instability_figure},
      {"marginal-decay", "The marginal representation's decay", "", marginal_decay_figure},
      {"beta-grid", "Beta per head, all layers", kInside, beta_grid_figure},
      {"key-grid", "Principal components of keys, all layers", kInside, key_grid_figure},
      {"worked-example", "Worked example: a fuzzy swap and an observation in S_3", "",
       worked_example_figure},
      {"uncertainty-cycle",
       "Trained models on cycles, certain and uncertain",
       kUncertain,
       uncertainty_cycle_figure,
       {"u-cycle.json", "k-cycle.json"}},
      {"uncertainty-regret",
       "Trained models against the exact belief",
       kUncertain,
       uncertainty_regret_figure,
       {"u-uniform.json", "k-uniform.json", "bounds-uniform.json"}},
      {"norms", "What cycles do to the state", kUncertain, norms_figure, {"k-probe.json"}},
      {"precision", "Cycles with a rounded state", kUncertain, precision_figure, {"k-probe.json"}},
      {"beta-law",
       "The range of eigenvalues against the probability of a swap",
       kUncertain,
       beta_law_figure,
       {"beta-law.json"}}};
  return figures;
}

const FigureEntry& find_figure(const std::string& name) {
  std::vector<std::string> names;
  for (const FigureEntry& entry : all_figures()) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  const std::string near = nearest_name(name, names);
  wrong_use("a figure must be 'all' or one of {}, not '{}'{}", fmt::join(names, ", "), name,
            near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

void draw_heading(Canvas& canvas, double x, double y, const std::string& letter,
                  const std::string& text) {
  const TextStyle bold{.size = 8.5, .bold = true};
  canvas.text(x, y, letter, bold);
  canvas.text(x + Canvas::width_of(letter, bold) + 5, y, text, {.size = 8.5, .bold = true});
}

}  // namespace shellgame
