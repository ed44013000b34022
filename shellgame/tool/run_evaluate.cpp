// The learning part's side of `shellgame evaluate`: the grid of cells and seeds.
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "shellgame/evaluate/cell.h"
#include "shellgame/evaluate/evaluate.h"
#include "shellgame/evaluate/trace_rows.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/memory.h"
#include "shellgame/random/seeds.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/system/progress.h"
#include "shellgame/system/saturating.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/tool/evaluate_options.h"
#include "shellgame/tool/run_evaluate.h"
#include "shellgame/tool/run_learn.h"
#include "shellgame/train/memory_estimate.h"

namespace shellgame {
namespace {

// A point of the grid, before it is evaluated.
struct Point {
  Task task = {};
  std::uint64_t spacing = 0;
  SequenceSpec sequence = {};
  bool beliefs = true;
};

std::string length_words(const SequenceSpec& spec) {
  return spec.min == spec.max || spec.kind == "word-problem"
             ? fmt::format("{}", spec.max)
             : fmt::format("{}-{}", spec.min, spec.max);
}

std::vector<Point> points_of(const EvaluateOptions& options, std::vector<std::string>& notes) {
  std::vector<Point> points;
  for (const SequenceSpec& spec : options.lengths) points.push_back({.sequence = spec});
  if (options.sequences) return points;
  for (const std::uint64_t commands : options.commands) {
    for (const std::uint64_t spacing : options.spacings) {
      if (spacing > commands) {
        notes.push_back(
            fmt::format("{} commands with spacing {} are left out: no trace would have "
                        "a reveal",
                        commands, spacing));
        continue;
      }
      Point point{.task = options.task};
      point.task.commands = commands;
      point.task.spacing = spacing;
      std::string note;
      if (options.bayes == "auto") {
        point.beliefs = beliefs_are_cheap(
            point.task, saturating_multiply<std::uint64_t>(options.count, options.seeds.size()),
            note);
        if (!note.empty()) notes.push_back(note);
      } else {
        point.beliefs = options.bayes == "always";
      }
      points.push_back(point);
    }
  }
  return points;
}

std::vector<ShownTrace> in_words(const RowMaker& rows, const Evaluation& result,
                                 std::uint64_t seed) {
  std::vector<ShownTrace> traces;
  for (std::size_t i = 0; i < result.shown.size(); ++i) {
    ShownTrace& trace = traces.emplace_back();
    trace.seed = seed;
    trace.index = i;
    for (const ShownReveal& reveal : result.shown[i]) {
      ShownLine line{.command = reveal.command,
                     .variable = rows.variable_name(reveal.variable),
                     .chosen = reveal.chosen ? rows.value_name(*reveal.chosen) : "?",
                     .truth = rows.value_name(reveal.value),
                     .probability = reveal.probability,
                     .right = reveal.chosen == reveal.value};
      if (reveal.bayes) {
        line.bayes = rows.value_name(*reveal.bayes);
        line.bayes_probability = reveal.bayes_probability;
      } else if (rows.has_beliefs()) {  // what follows from the text is certain
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
  Grid(const EvaluateOptions& options, const Model& model) : options_(options), model_(model) {
    if (!options.sequences)
      tokenizer_ = open_tokenizer(tokenizer_of(options.tokenizer, options.model.directory, model));
    report_.model = options.model.directory;
    report_.task =
        options.sequences ? sequence_words(options.lengths.front()) : task_words(options.task);
    report_.mode = options.mode;
    report_.precision = options.model.precision;
    report_.count = options.count;
    report_.confidence = options.confidence;
  }

  EvaluationReport run() {
    const std::vector<Point> points = points_of(options_, report_.notes);
    std::uint64_t total = 0;
    for (const Point& point : points) {
      const std::uint64_t of_point = saturating_multiply(
          rows_of(point, options_.seeds.front())->tokens(), options_.count, options_.seeds.size());
      total = saturating_add(total, of_point);
    }
    Progress progress("evaluating", "tokens", total);
    const at::NoGradGuard no_gradients;
    const auto start = std::chrono::steady_clock::now();
    for (const Point& point : points) report_.cells.push_back(cell_of(point, progress));
    report_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.peak_memory = peak_memory();
    return std::move(report_);
  }

 private:
  std::unique_ptr<RowMaker> rows_of(const Point& point, std::uint64_t seed) const {
    if (options_.sequences) {
      return std::make_unique<SequenceRows>(point.sequence, evaluation_seed(seed));
    }
    return std::make_unique<TraceRows>(point.task, *tokenizer_, evaluation_seed(seed),
                                       point.beliefs);
  }

  EvaluationCell cell_of(const Point& point, Progress& progress) const {
    EvaluationOptions how{
        .mode = options_.mode == "free" ? EvaluationMode::kFree : EvaluationMode::kTeacher,
        .rows = options_.rows,
        .slice = options_.slice,
        .show = options_.show,
        .most_memory = options_.most_memory_gib > 0
                           ? static_cast<std::int64_t>(options_.most_memory_gib * (1 << 30))
                           : available_memory() / 5 * 4,
        .progress = [&](std::uint64_t tokens) { progress.advance(tokens); }};
    EvaluationCell cell;
    if (options_.sequences) {
      cell.length = length_words(point.sequence);
    } else {
      cell.commands = point.task.commands;
      cell.spacing = point.task.spacing;
    }
    StatisticsOptions of{.most_positions = options_.positions, .confidence = options_.confidence};
    const auto start = std::chrono::steady_clock::now();
    Tally all(0);
    for (const std::uint64_t seed : options_.seeds) {
      const auto rows = rows_of(point, seed);
      of.chance = rows->chance();
      of.length = options_.sequences ? 0 : rows->length();
      cell.has_beliefs = rows->has_beliefs();
      const Evaluation result = evaluate(model_, *rows, 0, options_.count, how);
      cell.tokens += result.tokens;
      cell.seeds.push_back({seed, statistics_of(result.tally, of)});
      all.append(result.tally);
      if (cell.shown.empty()) cell.shown = in_words(*rows, result, seed);
    }
    cell.all = statistics_of(all, of);
    cell.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    of.most_positions = 16;
    cell.few_positions = statistics_of(all, of).positions;
    return cell;
  }

  const EvaluateOptions& options_;
  const Model& model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  EvaluationReport report_;
};

}  // namespace

std::string tokenizer_of(const std::string& named, const std::string& model_directory,
                         const Model& model) {
  if (!named.empty()) return named;
  const std::string own = model_directory + "/tokenizer.json";
  if (std::filesystem::exists(own)) return own;
  const std::int64_t lexemes = LexemeTokenizer().vocabulary_size(),
                     has = model.config().spec().vocabulary;
  if (has != lexemes)
    wrong_use(
        "a model without a tokenizer.json must have the vocabulary of {} lexemes, and that of '{}' "
        "has {}: name its tokenizer with --tokenizer",
        lexemes, model_directory, has);
  return "lexeme";
}

std::string sequence_words(const SequenceSpec& spec) {
  return spec.kind == "word-problem"
             ? fmt::format("word problem of {}, {} multiplication", spec.group,
                           spec.product == Multiplication::kRight ? "right" : "left")
             : spec.kind;
}

std::string task_words(const Task& task) {
  const Task usual;
  std::string words = task.group;
  for (const TaskKey& key : task_keys()) {
    if (key.name == "group" || key.name == "commands" || key.name == "spacing") continue;
    const std::string value = key.get(task);
    if (key.name == "moves") {
      words += " " + value;
    } else if (value != key.get(usual)) {
      words += fmt::format(", {} = {}", key.name, value);
    }
  }
  return words;
}

EvaluationReport evaluate_grid(const EvaluateOptions& options, const Model& model) {
  return Grid(options, model).run();
}

void run_evaluate(const EvaluateOptions& options) {
  const EngineScope engine(options.model.composed ? Engine::kComposed : Engine::kKernels);
  const EvaluationReport report = evaluate_grid(options, open_model(options.model));
  OutputFile file(options.output);
  if (options.format == "json") {
    file.write(to_json(report).dump(2) + "\n");
  } else {
    file.write(options.format == "csv" ? to_csv(report) : printable_lines(to_text(report)));
  }
  file.commit();
  if (options.format == "text") return;
  for (const std::string& note : report.notes) say("note: {}", note);
}

}  // namespace shellgame
