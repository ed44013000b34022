#include "shellgame/models/model_predictor.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/episodes/schedule_source.h"
#include "shellgame/episodes/sequence_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/checkpoint.h"
#include "shellgame/models/exact.h"
#include "shellgame/ops/engine.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/traces/predictions.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

Task task_of(const std::string& toml) { return parse_task(toml, "task.toml"); }

Model exact(const ExactOptions& options) {
  const ScratchFolder directory;
  write_exact_model(exact_model(options), directory / "model");
  return load_model(directory / "model");
}

Model untrained(const nlohmann::json& changes, std::int64_t vocabulary) {
  nlohmann::json keys = {
      {"model_type", "delta_net"}, {"allow_neg_eigval", true}, {"hidden_size", 24},
      {"num_hidden_layers", 2},    {"num_heads", 2},           {"intermediate_size", 40},
      {"vocab_size", vocabulary},  {"initializer_range", 0.3}};
  if (!changes.is_null()) keys.update(changes);
  return Model(ModelConfig(keys), {.seed = 3});
}

// What evaluate() must give, from its definition alone: every logit from a run over the whole
// context, no state, no batch, no slices.
struct Expected {
  std::vector<Answer> answers;
  std::vector<std::optional<std::uint32_t>> chosen;
};

class Naive {
 public:
  explicit Naive(const Model& model) : model_(model) {}

  Expected run(const Source& rows, std::uint64_t index, EvaluationMode mode) {
    const auto row = rows.episode(index);
    Expected expected;
    Piece piece;
    context_.clear();
    while (row->next(piece, 4096)) {
      std::size_t next = 0;
      for (const Question& reveal : piece.questions) {
        for (; next <= reveal.after; ++next) context_.push_back(piece.ids[next]);
        const std::uint32_t choice = greedy(reveal);
        Answer answer{.command = reveal.command, .right = choice == reveal.value};
        weigh(reveal, answer);
        expected.answers.push_back(answer);
        expected.chosen.push_back(choice);
        if (reveal.length == 0) continue;  // not in the row
        for (const std::uint32_t token :
             reveal.values->tokens(mode == EvaluationMode::kFree ? choice : reveal.value)) {
          context_.push_back(token);
        }
        next += reveal.length;
      }
      for (; next < piece.ids.size(); ++next) context_.push_back(piece.ids[next]);
    }
    return expected;
  }

 private:
  std::vector<double> logits(const std::vector<std::uint32_t>& tokens) const {
    const at::NoGradGuard no_gradients;
    at::Tensor ids = at::empty({1, static_cast<std::int64_t>(tokens.size())}, at::kLong);
    std::copy(tokens.begin(), tokens.end(), ids.data_ptr<std::int64_t>());
    const at::Tensor last =
        model_.logits(ids).select(1, ids.size(1) - 1).to(at::kDouble).contiguous();
    return {last.data_ptr<double>(), last.data_ptr<double>() + last.numel()};
  }

  // The tokens that may follow `depth` tokens of value v: those of all values that begin so.
  static std::vector<std::uint32_t> allowed(const Question& reveal, std::uint32_t v,
                                            std::size_t depth) {
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t other = 0; other < reveal.values->values(); ++other) {
      const auto& a = reveal.values->tokens(v);
      const auto& b = reveal.values->tokens(other);
      if (b.size() < depth ||
          !std::equal(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(depth), a.begin())) {
        continue;
      }
      const std::uint32_t token = b.size() == depth ? reveal.end_token : b[depth];
      if (std::find(tokens.begin(), tokens.end(), token) == tokens.end()) tokens.push_back(token);
    }
    return tokens;
  }

  std::uint32_t greedy(const Question& reveal) const {
    std::vector<std::uint32_t> all = context_, path;
    std::vector<std::uint32_t> left;
    for (std::uint32_t v = 0; v < reveal.values->values(); ++v) left.push_back(v);
    while (left.size() > 1) {
      const std::vector<double> here = logits(all);
      std::uint32_t best = 0;
      double most = -INFINITY;
      for (const std::uint32_t token : allowed(reveal, left.front(), path.size())) {
        if (here[token] > most) {
          most = here[token];
          best = token;
        }
      }
      std::erase_if(left, [&](std::uint32_t v) {
        const auto& tokens = reveal.values->tokens(v);
        return (tokens.size() == path.size() ? reveal.end_token : tokens[path.size()]) != best;
      });
      path.push_back(best);
      all.push_back(best);
    }
    return left.front();
  }

  void weigh(const Question& reveal, Answer& answer) const {
    std::vector<std::uint32_t> all = context_;
    const auto& tokens = reveal.values->tokens(reveal.value);
    answer.numbers.strict = answer.right;
    for (std::size_t depth = 0; depth <= tokens.size(); ++depth) {
      const auto choices = allowed(reveal, reveal.value, depth);
      const bool end = depth == tokens.size();
      if (end && choices.size() == 1) break;  // it begins no other value
      const std::uint32_t truth = end ? reveal.end_token : tokens[depth];
      const std::vector<double> here = logits(all);
      double sum = 0, values = 0;
      for (const double x : here) sum += std::exp(x);
      for (const std::uint32_t token : choices) values += std::exp(here[token]);
      answer.numbers.cross_entropy += std::log(sum) - here[truth];
      answer.numbers.value_cross_entropy += std::log(values) - here[truth];
      answer.numbers.strict =
          answer.numbers.strict && here[truth] == *std::max_element(here.begin(), here.end());
      all.push_back(truth);
    }
  }

  const Model& model_;
  std::vector<std::uint32_t> context_;
};

void expect_naive(const Model& model, const Source& rows, std::uint64_t count,
                  EvaluationOptions options) {
  options.show = count;
  const Evaluation found = evaluate(model, rows, 0, count, options);
  Tally tally(count);
  std::size_t wrong = 0;
  for (std::uint64_t index = 0; index < count; ++index) {
    const Expected expected = Naive(model).run(rows, index, options.mode);
    ASSERT_EQ(found.shown[index].size(), expected.answers.size());
    for (std::size_t i = 0; i < expected.answers.size(); ++i) {
      const Answer& answer = expected.answers[i];
      const ShownReveal& shown = found.shown[index][i];
      EXPECT_EQ(shown.command, answer.command);
      EXPECT_EQ(shown.chosen == shown.value, answer.right) << index << " " << i;
      if (shown.chosen) {
        EXPECT_EQ(shown.chosen, expected.chosen[i]);
      }
      EXPECT_NEAR(shown.probability, std::exp(-answer.numbers.value_cross_entropy), 1e-3);
      tally.add(index, answer);
      wrong += !answer.right;
    }
  }
  EXPECT_GT(wrong, 0u);  // else the comparison says little
  const Statistics a = statistics_of(found.tally, {}), b = statistics_of(tally, {});
  EXPECT_EQ(a.accuracy.right, b.accuracy.right);
  EXPECT_EQ(a.strict_accuracy.right, b.strict_accuracy.right);
  EXPECT_EQ(a.final_accuracy.right, b.final_accuracy.right);
  EXPECT_NEAR(a.mean.cross_entropy, b.mean.cross_entropy, 2e-4);
  EXPECT_NEAR(a.mean.value_cross_entropy, b.mean.value_cross_entropy, 2e-4);
}

struct TaskCase {
  const char* tokenizer;
  const char* toml;
};
// One token a value; several with common beginnings; lines of different lengths; all kinds of
// reveals.
const TaskCase kTasks[] = {
    {"lexeme", "group = 'S5'\ncommands = 9\nspacing = 3\n"},
    {"lexeme", "group = 'S3'\nvalues = 'red,re,blue'\ncommands = 6\nspacing = 1\n"},
    {"lexeme", "group = 'S30'\nmoves = 'swaps'\ncommands = 9\nspacing = 1\n"},
    {"bytes", "group = 'S11'\nmoves = 'swaps'\ncommands = 5\nspacing = 1\n"},
    {"lexeme",
     "group = 'S4'\nmoves = 'swaps'\ncommands = 8\nspacing = 2\nuncertainty = 'branching'\n"
     "uncertain-share = 0.5\nreveal-forms = 'print,equal,unequal,member'\nfull-reveal-period = "
     "3\n"},
};

TEST(Evaluate, IsWhatItsDefinitionSays) {
  for (const TaskCase& one : kTasks) {
    const auto tokenizer = open_tokenizer(one.tokenizer);
    const TraceSource rows(task_of(one.toml), *tokenizer, {.seed = 1});
    const Model model = untrained({}, tokenizer->vocabulary_size());
    for (const EvaluationMode mode : {EvaluationMode::kTeacher, EvaluationMode::kFree}) {
      SCOPED_TRACE(fmt::format("{} {} mode {}", one.tokenizer, one.toml, static_cast<int>(mode)));
      expect_naive(model, rows, 3, {.mode = mode, .rows = 2, .slice = 13});
    }
  }
}

TEST(Evaluate, IsWhatItsDefinitionSaysForAttention) {
  const auto tokenizer = open_tokenizer("lexeme");
  const TraceSource rows(task_of(kTasks[1].toml), *tokenizer, {.seed = 1});
  const Model model = untrained({{"model_type", "transformer"}}, tokenizer->vocabulary_size());
  for (const EvaluationMode mode : {EvaluationMode::kTeacher, EvaluationMode::kFree}) {
    expect_naive(model, rows, 3, {.mode = mode, .rows = 3, .slice = 7});
  }
}

TEST(Evaluate, SequencesAreWhatTheirDefinitionSays) {
  for (const SequenceSpec& spec :
       {SequenceSpec{.kind = "parity", .min = 5, .max = 20},
        SequenceSpec{.kind = "modular-arithmetic", .min = 9, .max = 21},
        SequenceSpec{.kind = "word-problem", .group = "S3", .min = 17, .max = 17}}) {
    const SequenceSource rows(spec, {.seed = 2});
    const Model model = untrained({}, static_cast<std::int64_t>(rows.vocabulary_size()));
    SCOPED_TRACE(spec.kind);
    expect_naive(model, rows, 5, {.rows = 3, .slice = 6});
    EXPECT_THROW(evaluate(model, rows, 0, 2, {.mode = EvaluationMode::kFree}), UsageError);
  }
}

TEST(Evaluate, RowsAndSlicesDoNotChangeTheNumbers) {
  const auto tokenizer = open_tokenizer("lexeme");
  for (const TaskCase& one : {kTasks[0], kTasks[2], kTasks[4]}) {
    Task task = task_of(one.toml);
    task.commands = 24;
    const TraceSource rows(task, *tokenizer, {.seed = 1});
    const Model model = untrained({}, tokenizer->vocabulary_size());
    for (const EvaluationMode mode : {EvaluationMode::kTeacher, EvaluationMode::kFree}) {
      std::optional<Statistics> first;
      for (const auto& [side, slice] : {std::pair<std::size_t, std::size_t>{5, 100'000},
                                        {1, 100'000},
                                        {5, 512},
                                        {2, 64},
                                        {3, 1}}) {
        const Evaluation found =
            evaluate(model, rows, 0, 5, {.mode = mode, .rows = side, .slice = slice});
        const Statistics s = statistics_of(found.tally, {});
        if (!first) first = s;
        EXPECT_EQ(s.accuracy.right, first->accuracy.right) << one.toml << side << " " << slice;
        EXPECT_EQ(s.first_failure_mean, first->first_failure_mean);
        EXPECT_NEAR(s.mean.cross_entropy, first->mean.cross_entropy, 1e-4);
        EXPECT_EQ(s.mean.bayes_cross_entropy, first->mean.bayes_cross_entropy);
      }
    }
  }
}

TEST(Evaluate, AllThreadsGiveTheSameNumbers) {
  const auto tokenizer = open_tokenizer("lexeme");
  Task task = task_of(kTasks[4].toml);
  task.commands = 70;
  const TraceSource rows(task, *tokenizer, {.seed = 1});
  const Model model = untrained({}, tokenizer->vocabulary_size());
  const int before = thread_count();
  std::optional<Statistics> first;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    const Statistics s = statistics_of(evaluate(model, rows, 0, 5).tally, {});
    if (!first) first = s;
    EXPECT_EQ(s.accuracy.right, first->accuracy.right);
    EXPECT_NEAR(s.mean.cross_entropy, first->mean.cross_entropy, 1e-6);
  }
  use_threads(before);
}

TEST(Evaluate, ExactModelsAreNeverWrong) {
  const auto tokenizer = open_tokenizer("lexeme");
  struct Case {
    ExactOptions model;
    const char* toml;
  };
  for (const Case& one :
       {Case{{.variables = 5}, "group = 'S5'\ncommands = 600\nspacing = 16\n"},
        Case{{.variables = 3, .silu = true},
             "group = 'S3'\nmoves = 'swaps'\ncommands = 500\nspacing = 7\nreveal-forms = "
             "'print,equal'\nfull-reveal-period = 50\n"},
        Case{{.variables = 6, .moves = ExactMoves::kSwaps},
             "group = 'S6'\nmoves = 'swaps'\ncommands = 500\nspacing = 8\n"}}) {
    const TraceSource rows(task_of(one.toml), *tokenizer, {.seed = 1});
    const Model model = exact(one.model);
    for (const EvaluationMode mode : {EvaluationMode::kTeacher, EvaluationMode::kFree}) {
      const Evaluation found = evaluate(model, rows, 0, 3, {.mode = mode});
      const Statistics s = statistics_of(found.tally, {.chance = rows.chance(), .length = 500});
      EXPECT_EQ(s.accuracy.value, 1.0) << one.toml;
      EXPECT_EQ(s.strict_accuracy.value, 1.0);
      EXPECT_EQ(s.scaled_accuracy, 1.0);
      EXPECT_EQ(s.whole_prefix_accuracy.value, 1.0);
      EXPECT_LT(s.mean.cross_entropy, 1e-4);
      EXPECT_EQ(s.mean.bayes_agreement, 1.0);
      EXPECT_GT(s.reveals, 90u);
    }
  }
}

TEST(Evaluate, FreeRunningDiffersWhereTheModelErrs) {
  const auto tokenizer = open_tokenizer("lexeme");
  const TraceSource rows(task_of("group = 'S5'\ncommands = 60\nspacing = 4\n"), *tokenizer,
                         {.seed = 1});
  const Model model = untrained({}, tokenizer->vocabulary_size());
  const Statistics teacher = statistics_of(evaluate(model, rows, 0, 4).tally, {});
  const Statistics free =
      statistics_of(evaluate(model, rows, 0, 4, {.mode = EvaluationMode::kFree}).tally, {});
  EXPECT_LT(teacher.accuracy.value, 0.9);
  EXPECT_GT(std::abs(teacher.mean.cross_entropy - free.mean.cross_entropy), 1e-3);
  // Until the first reveal both have read the same.
  EXPECT_NEAR(teacher.positions[0].mean.cross_entropy, free.positions[0].mean.cross_entropy, 1e-5);
}

TEST(Evaluate, TheBayesReferenceIsThatOfTheBeliefEngine) {
  const auto tokenizer = open_tokenizer("lexeme");
  const Task task = task_of(
      "group = 'S3'\nmoves = 'swaps'\ncommands = 60\nspacing = 2\nuncertainty = 'branching'\n");
  const TraceSource rows(task, *tokenizer, {.seed = 1});
  const Model model =
      exact({.variables = 3, .kind = ExactKind::kMarginal, .moves = ExactMoves::kSwaps});
  constexpr std::uint64_t kCount = 20;
  const Evaluation found = evaluate(model, rows, 0, kCount, {.show = kCount});
  const Sampler sampler(task);
  double nats = 0, agree = 0, right = 0, reveals = 0;
  for (std::uint64_t index = 0; index < kCount; ++index) {
    const Program program = sampler.sample(1, index);
    std::vector<RevealMark> marks;
    render(program, &marks);
    const auto beliefs = predictions(program, marks);
    for (std::size_t i = 0; i < marks.size(); ++i, ++reveals) {
      const double best = *std::max_element(beliefs[i].begin(), beliefs[i].end());
      const ShownReveal& shown = found.shown[index][i];
      nats -= std::log(beliefs[i][marks[i].value]);
      agree += beliefs[i][shown.chosen.value()] > best - 1e-6;
      right += beliefs[i][marks[i].value] > best - 1e-6;
      EXPECT_DOUBLE_EQ(shown.bayes_probability, best);
    }
  }
  const Statistics s = statistics_of(found.tally, {.chance = 1.0 / 3});
  EXPECT_EQ(static_cast<double>(s.reveals), reveals);
  EXPECT_NEAR(s.mean.bayes_cross_entropy, nats / reveals, 1e-12);
  EXPECT_NEAR(s.mean.bayes_agreement, agree / reveals, 1e-12);
  EXPECT_LE(s.mean.bayes_accuracy, right / reveals);  // of equal values it takes the first
  EXPECT_GT(s.mean.bayes_cross_entropy, 0.3);
  EXPECT_LT(s.mean.bayes_cross_entropy, std::log(3.0));
  EXPECT_LE(s.mean.bayes_cross_entropy, s.mean.cross_entropy);
}

TEST(Evaluate, AGrowingMemoryIsEstimatedAndLimited) {
  const auto tokenizer = open_tokenizer("lexeme");
  const std::int64_t vocabulary = tokenizer->vocabulary_size();
  const Model attention = untrained({{"model_type", "transformer"}}, vocabulary);
  const Model delta = untrained({}, vocabulary);
  EXPECT_EQ(ModelPredictor(delta).growing_memory(1'000'000), 0);
  const std::int64_t one = ModelPredictor(attention).growing_memory(1000);
  // Two layers keep keys and values of width 24.
  EXPECT_GT(one, 1000 * 2 * 2 * 24 * 4);
  EXPECT_NEAR(static_cast<double>(ModelPredictor(attention).growing_memory(2000)),
              2.0 * static_cast<double>(one), 1);
  const TraceSource rows(task_of("commands = 40\nspacing = 8\n"), *tokenizer, {.seed = 1});
  const auto need = ModelPredictor(attention).growing_memory(rows.tokens());
  const Statistics all = statistics_of(evaluate(attention, rows, 0, 4).tally, {});
  const Statistics few =
      statistics_of(evaluate(attention, rows, 0, 4, {.most_memory = need + 1}).tally, {});
  EXPECT_EQ(all.accuracy.right, few.accuracy.right);
  try {
    evaluate(attention, rows, 0, 4, {.most_memory = need / 2});
    FAIL() << "the limit must hold";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("memory limit"));
  }
  EXPECT_NO_THROW(evaluate(delta, rows, 0, 1, {.most_memory = 1}));
  // A copy of a row's memory that does not fit is not made: the rows are read alone.
  const ModelPredictor predictor(attention);
  const auto together =
      evaluate_together(predictor, {&rows, &rows}, 0, 2, {.most_memory = need + 1});
  const auto copied = evaluate_together(predictor, {&rows, &rows}, 0, 2, {});
  ASSERT_EQ(together.size(), 2u);
  EXPECT_EQ(together[0].tokens, together[1].tokens);
  EXPECT_LT(copied[1].tokens, together[1].tokens);
}

TEST(Evaluate, AVocabularyThatIsTooSmallIsRefused) {
  const auto tokenizer = open_tokenizer("lexeme");
  const TraceSource rows(task_of("commands = 8\n"), *tokenizer, {.seed = 1});
  EXPECT_THROW(evaluate(untrained({}, 20), rows, 0, 1), UsageError);
}

// Cells of a schedule: rows that begin alike, are not equally long and end differently.
TEST(Evaluate, WhatBeginsAlikeIsReadOnceAndJudgedAsIfItWereAlone) {
  const auto tokenizer = open_tokenizer("lexeme");
  const SourceOptions with{.seed = 1, .beliefs = true};
  for (const std::string name : {"M5", "MR"}) {
    std::vector<std::unique_ptr<ScheduleSource>> sources;
    std::vector<const Source*> all;
    for (const auto& plan :
         schedule_cells(SHELLGAME_SOURCE_DIR "/experiments/uncertainty/schedules/" + name + ".toml",
                        {"N=9,1,4,8"})) {
      sources.push_back(std::make_unique<ScheduleSource>(plan, *tokenizer, with));
      all.push_back(sources.back().get());
    }
    ASSERT_EQ(all.size(), 12u);
    for (const nlohmann::json& changes :
         {nlohmann::json(), nlohmann::json{{"model_type", "shellgame_lstm"}},
          nlohmann::json{{"model_type", "transformer"}, {"allow_neg_eigval", nullptr}}}) {
      nlohmann::json keys = changes;
      if (keys.is_object()) keys["allow_neg_eigval"] = nullptr;
      const Model model = untrained(keys, tokenizer->vocabulary_size());
      const ModelPredictor predictor(model);
      const EvaluationOptions options{.rows = 7, .slice = 50, .show = 12};
      const auto together = evaluate_together(predictor, all, 0, 12, options);
      std::uint64_t alone_tokens = 0, tokens = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Evaluation alone = evaluate(predictor, *all[i], 0, 12, options);
        alone_tokens += alone.tokens;
        tokens += together[i].tokens;
        const Statistics a = statistics_of(alone.tally, {}),
                         b = statistics_of(together[i].tally, {});
        EXPECT_GT(a.mean.cross_entropy, 0.1);
        EXPECT_NEAR(a.mean.cross_entropy, b.mean.cross_entropy, 1e-5) << name << ' ' << i;
        EXPECT_NEAR(a.mean.regret, b.mean.regret, 1e-5) << name << ' ' << i;
        EXPECT_EQ(a.reveals, b.reveals);
        ASSERT_EQ(alone.shown.size(), together[i].shown.size());
        for (std::size_t r = 0; r < 12; ++r) {
          ASSERT_EQ(alone.shown[r].size(), together[i].shown[r].size());
          for (std::size_t q = 0; q < alone.shown[r].size(); ++q) {
            EXPECT_EQ(alone.shown[r][q].value, together[i].shown[r][q].value);
            EXPECT_NEAR(alone.shown[r][q].probability, together[i].shown[r][q].probability, 1e-5);
          }
        }
      }
      EXPECT_LT(3 * tokens, alone_tokens) << name;
    }
  }
}

TEST(Evaluate, LogitsThatAreNoNumbersAreAnError) {
  const auto tokenizer = open_tokenizer("lexeme");
  const TraceSource rows(task_of("commands = 8\n"), *tokenizer, {.seed = 1});
  Model model = untrained({}, tokenizer->vocabulary_size());
  {
    const at::NoGradGuard no_gradients;
    model.parameters().back().value.fill_(NAN);
  }
  try {
    evaluate(model, rows, 0, 1);
    FAIL() << "NaN must not pass";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("must be finite"));
  }
}

TEST(Evaluate, OtherPrecisionsAndComposedFormsAgree) {
  const auto tokenizer = open_tokenizer("lexeme");
  const TraceSource rows(task_of("commands = 12\nspacing = 2\n"), *tokenizer, {.seed = 1});
  Model model = untrained({}, tokenizer->vocabulary_size());
  const Statistics kernels = statistics_of(evaluate(model, rows, 0, 3).tally, {});
  {
    const EngineScope engine(Engine::kComposed);
    const Statistics composed = statistics_of(evaluate(model, rows, 0, 3).tally, {});
    EXPECT_NEAR(composed.mean.cross_entropy, kernels.mean.cross_entropy, 1e-4);
  }
  model.to(at::kDouble);
  const Statistics fp64 = statistics_of(evaluate(model, rows, 0, 3).tally, {});
  EXPECT_NEAR(fp64.mean.cross_entropy, kernels.mean.cross_entropy, 1e-4);
  EXPECT_NE(fp64.mean.cross_entropy, kernels.mean.cross_entropy);
  model.to(at::kBFloat16);
  const Statistics bf16 = statistics_of(evaluate(model, rows, 0, 3).tally, {});
  EXPECT_NEAR(bf16.mean.cross_entropy, kernels.mean.cross_entropy, 0.2);
}

TEST(ModelLogitsAt, AreTheLogitsAtThosePlaces) {
  const Model model = untrained({}, 19);
  const at::NoGradGuard no_gradients;
  const at::Tensor ids = at::arange(14, at::kLong).view({2, 7});
  const at::Tensor all = model.logits(ids);
  const at::Tensor places = at::arange(14, at::kLong).slice(0, 1, 14, 4);  // 1, 5, 9, 13
  EXPECT_TRUE(at::allclose(model.logits_at(ids, places), all.flatten(0, 1).index_select(0, places),
                           1e-5, 1e-6));
  EXPECT_EQ(model.logits_at(ids, places.slice(0, 0, 0)).size(0), 0);
}

}  // namespace
}  // namespace shellgame
