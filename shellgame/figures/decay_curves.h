// How the mass of a linear recurrence falls in each number format, until nothing is left.
#pragma once

#include <vector>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/figures/figure.h"
#include "shellgame/report/panel.h"

namespace shellgame {

struct DecayCurve {
  std::string name;
  Series mass;                 // after each symbol; the first point is the start
  std::uint64_t vanished = 0;  // the symbol at which nothing was left; 0: it never came
};

// Says the word over and over, at most `most` symbols.
DecayCurve decay_curve(const AutomatonFile& file, const FilterOptions& options,
                       const std::string& name, std::uint64_t most);

// One in each number format from fp32 down.
std::vector<DecayCurve> decay_curves(const AutomatonFile& file, FilterKind kind);
// "fp32 298, bf16 266, ...": where each ends.
std::string ends_of(const std::vector<DecayCurve>& curves);

// A panel with these curves on a logarithmic axis, each end marked with its format and step.
void draw_decay(Figure& figure, const Box& inner, const std::vector<DecayCurve>& curves,
                const std::string& y_label);

}  // namespace shellgame
