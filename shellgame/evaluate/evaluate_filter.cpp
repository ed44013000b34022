#include "shellgame/evaluate/evaluate_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "shellgame/evaluate/filter_predictor.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// One gain a symbol.
void fit_gains_of(FilterPredictor& filter, GridOptions& grid, const Tokenizer& tokenizer) {
  constexpr std::uint64_t kTraces = 16;
  bool same = false;  // as those that are judged
  for (const SharedData& data : grid.points) {
    const auto source = data->source(&tokenizer, {.seed = 0, .beliefs = false});
    same = same || !source->depends_on_seed();
    filter.fit_gains(*source, 0,
                     source->episodes() > 0 ? std::min(kTraces, source->episodes()) : kTraces);
  }
  if (same)
    grid.notes.emplace_back(
        "the gains are fitted on rows that are judged, since there are no others: these data do "
        "not depend on the seed");
}

}  // namespace

EvaluationReport evaluate_filter(GridOptions grid, const FilterQuestion& question) {
  if (grid.points.empty()) wrong_use("an evaluation needs at least one point");
  std::string name = question.tokenizer;
  for (const SharedData& data : grid.points) {
    if (!data->ids_are_text())
      wrong_use("a filter reads the text of traces, and these data are no text");
    name = decoding_tokenizer(*data, name);
  }
  const auto tokenizer = open_tokenizer(name);
  grid.precision = question.precision.empty() ? "fp64" : question.precision;
  FilterPredictor filter(
      *tokenizer,
      parse_filter_predictor(question.filter, parse_precision(grid.precision), question.window));
  if (question.filter == "gain") fit_gains_of(filter, grid, *tokenizer);
  grid.model = "filter " + question.filter;
  if (question.window > 0) grid.model += fmt::format(" of {} commands", question.window);
  return evaluate_grid(grid, filter, tokenizer.get());
}

}  // namespace shellgame
