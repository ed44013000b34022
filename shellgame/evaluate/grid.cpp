#include "shellgame/evaluate/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "shellgame/random/seeds.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/process_memory.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Tokens of rows that are read together: some 16 bytes each, questions apart.
constexpr std::uint64_t kMostTogether = 1 << 25;

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
    for (std::size_t from = 0, to = 0; from < options_.points.size(); from = to) {
      to = end_of_family(from);
      for (EvaluationCell& cell : cells_of({options_.points.data() + from, to - from}, progress))
        report_.cells.push_back(std::move(cell));
    }
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
    const std::size_t seeds = options_.seeds.size();
    return std::span(options_.seeds).first(seeds > 1 && !source.depends_on_seed() ? 1 : seeds);
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

  // Points from here on that are read together: of one family, with equally many rows, and not more
  // tokens than memory holds.
  std::size_t end_of_family(std::size_t from) const {
    const std::string family = options_.points[from]->family();
    std::size_t end = from + 1;
    if (family.empty()) return end;
    const auto first = source_of(*options_.points[from], options_.seeds.front(), false);
    const std::uint64_t count = count_of(*first);
    std::uint64_t tokens = saturating_multiply(first->tokens(), count);
    for (; end < options_.points.size() && options_.points[end]->family() == family; ++end) {
      const auto next = source_of(*options_.points[end], options_.seeds.front(), false);
      tokens = saturating_add(tokens, saturating_multiply(next->tokens(), count));
      if (count_of(*next) != count || seeds_of(*next).size() != seeds_of(*first).size() ||
          tokens > kMostTogether)
        break;
    }
    return end;
  }

  std::vector<EvaluationCell> cells_of(std::span<const SharedData> points, Progress& progress) {
    const EvaluationOptions how{
        .mode = options_.mode,
        .rows = options_.rows,
        .slice = options_.slice,
        .show = options_.show,
        .most_memory = options_.most_memory_gib > 0
                           ? static_cast<std::int64_t>(options_.most_memory_gib * (1 << 30))
                           : available_memory() / 5 * 4,
        .progress = [&](std::uint64_t tokens) { progress.advance(tokens); }};
    std::vector<EvaluationCell> cells(points.size());
    std::vector<Tally> tallies(points.size(), Tally(0));
    std::vector<StatisticsOptions> of(
        points.size(), {.most_positions = options_.positions, .confidence = options_.confidence});
    std::vector<bool> beliefs;
    for (const SharedData& data : points) beliefs.push_back(beliefs_of(*data));
    const auto some = source_of(*points.front(), options_.seeds.front(), false);
    for (const std::uint64_t seed : seeds_of(*some)) {
      std::vector<std::unique_ptr<Source>> sources;
      std::vector<const Source*> all;
      for (std::size_t i = 0; i < points.size(); ++i) {
        sources.push_back(source_of(*points[i], seed, beliefs[i]));
        all.push_back(sources.back().get());
      }
      const auto results = evaluate_together(predictor_, all, 0, count_of(*all.front()), how);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Source& source = *sources[i];
        EvaluationCell& cell = cells[i];
        of[i].chance = source.chance();
        of[i].length = source.length();
        cell.task = source.name();
        cell.axes = source.axes();
        cell.has_beliefs = source.has_beliefs();
        cell.tokens += results[i].tokens;
        cell.seconds += results[i].seconds;
        cell.seeds.push_back({seed, statistics_of(results[i].tally, of[i])});
        tallies[i].append(results[i].tally);
        if (cell.shown.empty()) cell.shown = in_words(source, results[i], seed);
      }
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      cells[i].all = statistics_of(tallies[i], of[i]);
      of[i].most_positions = 16;
      cells[i].few_positions = statistics_of(tallies[i], of[i]).positions;
    }
    return cells;
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
