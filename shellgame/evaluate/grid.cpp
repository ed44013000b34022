#include "shellgame/evaluate/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "shellgame/random/seeds.h"
#include "shellgame/system/error.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"

namespace shellgame {
namespace {

std::vector<ShownTrace> in_words(const Source& source, const Evaluation& result,
                                 std::uint64_t seed) {
  std::vector<ShownTrace> traces;
  for (std::size_t i = 0; i < result.shown.size(); ++i) {
    ShownTrace& trace = traces.emplace_back();
    trace.seed = seed;
    trace.index = i;
    for (const ShownReveal& reveal : result.shown[i]) {
      ShownLine line{.command = reveal.command,
                     .variable = source.variable_name(reveal.variable),
                     .chosen = reveal.chosen ? source.value_name(*reveal.chosen) : "?",
                     .truth = source.value_name(reveal.value),
                     .probability = reveal.probability,
                     .right = reveal.chosen == reveal.value};
      if (reveal.bayes) {
        line.bayes = source.value_name(*reveal.bayes);
        line.bayes_probability = reveal.bayes_probability;
      } else if (source.has_beliefs()) {  // what follows from the text is certain
        line.bayes = line.truth;
        line.bayes_probability = 1;
      }
      trace.lines.push_back(std::move(line));
    }
  }
  return traces;
}

class Grid {
 public:
  Grid(const GridOptions& options, const Predictor& predictor, const Tokenizer* tokenizer)
      : options_(options), predictor_(predictor), tokenizer_(tokenizer) {
    report_.model = options.model;
    report_.notes = options.notes;
    report_.trained = options.trained;
    report_.mode = options.mode == EvaluationMode::kFree ? "free" : "teacher";
    report_.precision = options.precision;
    report_.count = options.count;
    report_.confidence = options.confidence;
  }

  EvaluationReport run() {
    std::uint64_t total = 0;
    for (const SharedData& data : options_.points) {
      const auto source = source_of(*data, options_.seeds.front(), false);
      total =
          saturating_add(total, saturating_multiply<std::uint64_t>(
                                    source->tokens(), count_of(*source), seeds_of(*source).size()));
    }
    Progress progress("evaluating", "tokens", total);
    const auto start = std::chrono::steady_clock::now();
    for (const SharedData& data : options_.points)
      report_.cells.push_back(cell_of(*data, progress));
    tell_counts();
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.peak_memory = peak_memory();
    for (const std::string& note : predictor_.notes()) report_.notes.push_back(note);
    return std::move(report_);
  }

 private:
  std::unique_ptr<Source> source_of(const Data& data, std::uint64_t seed, bool beliefs) const {
    return data.source(tokenizer_, {.seed = evaluation_seed(seed), .beliefs = beliefs});
  }

  std::uint64_t count_of(const Source& source) const {
    return source.episodes() > 0 ? std::min(options_.count, source.episodes()) : options_.count;
  }

  // Episodes that are the same for every seed are counted once.
  std::span<const std::uint64_t> seeds_of(const Source& source) const {
    return std::span(options_.seeds).first(source.depends_on_seed() ? options_.seeds.size() : 1);
  }

  // The number of traces as it is, not as it was asked for.
  void tell_counts() {
    report_.count = 0;
    std::uint64_t once = 0;
    for (const EvaluationCell& cell : report_.cells) {
      for (const SeedResult& seed : cell.seeds)
        report_.count = std::max<std::uint64_t>(report_.count, seed.statistics.traces);
      once += cell.seeds.size() < options_.seeds.size() ? 1 : 0;
    }
    if (once > 0)
      report_.notes.push_back(
          fmt::format("the rows of {} of {} cells do not depend on the seed: they are counted "
                      "once, not for each of {} seeds",
                      once, report_.cells.size(), options_.seeds.size()));
  }

  // Whether exact beliefs are computed; says why not.
  bool beliefs_of(const Data& data) {
    if (options_.beliefs != Beliefs::kAuto) return options_.beliefs == Beliefs::kAlways;
    std::string note;
    const bool cheap = data.beliefs_are_cheap(
        saturating_multiply<std::uint64_t>(options_.count, options_.seeds.size()), note);
    if (!note.empty()) report_.notes.push_back(note);
    return cheap;
  }

  EvaluationCell cell_of(const Data& data, Progress& progress) {
    const bool beliefs = beliefs_of(data);
    EvaluationOptions how{
        .mode = options_.mode,
        .rows = options_.rows,
        .slice = options_.slice,
        .show = options_.show,
        .most_memory = options_.most_memory_gib > 0
                           ? static_cast<std::int64_t>(options_.most_memory_gib * (1 << 30))
                           : available_memory() / 5 * 4,
        .progress = [&](std::uint64_t tokens) { progress.advance(tokens); }};
    EvaluationCell cell;
    StatisticsOptions of{.most_positions = options_.positions, .confidence = options_.confidence};
    const auto start = std::chrono::steady_clock::now();
    Tally all(0);
    auto source = source_of(data, options_.seeds.front(), beliefs);
    for (const std::uint64_t seed : seeds_of(*source)) {
      if (seed != options_.seeds.front()) source = source_of(data, seed, beliefs);
      of.chance = source->chance();
      of.length = source->length();
      cell.task = source->name();
      cell.axes = source->axes();
      cell.has_beliefs = source->has_beliefs();
      const Evaluation result = evaluate(predictor_, *source, 0, count_of(*source), how);
      cell.tokens += result.tokens;
      cell.seeds.push_back({seed, statistics_of(result.tally, of)});
      all.append(result.tally);
      if (cell.shown.empty()) cell.shown = in_words(*source, result, seed);
    }
    cell.all = statistics_of(all, of);
    cell.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    of.most_positions = 16;
    cell.few_positions = statistics_of(all, of).positions;
    return cell;
  }

  const GridOptions& options_;
  const Predictor& predictor_;
  const Tokenizer* tokenizer_;
  EvaluationReport report_;
};

}  // namespace

EvaluationReport evaluate_grid(const GridOptions& options, const Predictor& predictor,
                               const Tokenizer* tokenizer) {
  if (options.points.empty() || options.seeds.empty())
    wrong_use("an evaluation needs at least one point and one seed");
  return Grid(options, predictor, tokenizer).run();
}

}  // namespace shellgame
