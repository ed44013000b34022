// The two exact models about beliefs: the conserving head against its own formulas and on the cells
// of the experiment under uncertainty, the log model against the exact filter.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "shellgame/episodes/schedule_source.h"
#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/exact.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/traces/trace.h"
#include "tests/support/exact_run.h"
#include "tests/support/shortened.h"

namespace shellgame {
namespace {

ExactModel belief_model(ExactKind kind, int variables) {
  return exact_model({.variables = variables, .kind = kind, .moves = ExactMoves::kSwaps});
}

template <class Real>
std::vector<double> belief_of(const std::vector<Real>& logits, std::size_t variables) {
  std::vector<double> belief;
  for (std::size_t v = 0; v < variables; ++v)
    belief.push_back(logits[LexemeTokenizer::id_of(std::to_string(v + 1))]);
  const double most = *std::max_element(belief.begin(), belief.end());
  double sum = 0;
  for (double& x : belief) sum += x = std::exp(x - most);
  for (double& x : belief) x /= sum;
  return belief;
}

// Of all questions of an episode: how far from the belief, and from the true value's certainty.
struct Asked {
  std::size_t questions = 0, uncertain = 0;
  double belief_error = 0, miss = 0;
};

template <class Real>
Asked ask(ExactRun<Real>& model, const Source& source, std::uint64_t index) {
  Piece piece;
  source.whole(index, piece);
  Asked asked;
  auto question = piece.questions.begin();
  for (std::size_t t = 0; t < piece.ids.size(); ++t) {
    const std::vector<Real> logits = model.step(piece.ids[t]);
    if (question == piece.questions.end() || question->after != t) continue;
    const std::vector<double> found = belief_of(logits, source.variables());
    std::vector<double> exact = question->belief;
    if (exact.empty()) {
      exact.resize(found.size());
      exact[question->value] = 1;
    }
    for (std::size_t v = 0; v < found.size(); ++v)
      asked.belief_error = std::max(asked.belief_error, std::abs(found[v] - exact[v]));
    asked.miss = std::max(asked.miss, 1 - found[question->value]);
    asked.uncertain += *std::max_element(exact.begin(), exact.end()) < 0.9;
    ++asked.questions;
    ++question;
  }
  return asked;
}

std::string schedule(const std::string& name) {
  return std::string(SHELLGAME_SOURCE_DIR) + "/experiments/uncertainty/schedules/" + name + ".toml";
}

TEST(Conserving, ACertaintyIsKeptInEveryCell) {
  const LexemeTokenizer tokenizer;
  const ExactModel model = belief_model(ExactKind::kConserving, 3);
  for (const char* cell : {"Z", "D", "M5", "M1", "R"}) {
    for (const auto& plan : schedule_cells(schedule(cell), {"N=1,12"})) {
      const ScheduleSource source(plan, tokenizer, {});
      EXPECT_EQ(source.episodes(), 12u);
      for (std::uint64_t index = 0; index < 12; ++index) {
        ExactRun<float> run(model);
        const Asked asked = ask(run, source, index);
        EXPECT_EQ(asked.questions, 1u);
        EXPECT_LT(asked.miss, 1e-6) << cell << ' ' << index;
      }
    }
  }
}

// The inputs are periodic. So if a cycle leaves all states as they were, bit for bit, they stay so
// for ever: in float, and with a state of 16 bits. Two certain swaps are the identity up to the
// length of a rounded key, an ulp from 1: there the state moves on by less than a millionth a
// cycle.
TEST(Conserving, TheCycleLeavesTheStateAsItWas) {
  const LexemeTokenizer tokenizer;
  const ExactModel model = belief_model(ExactKind::kConserving, 3);
  const std::string start =
      ">>> from random import random\n>>> a = 1\n>>> b = 2\n>>> c = 3\n"
      ">>> if random() < 0.5: a, c = c, a\n>>> if random() < 0.5: a, c = c, a\n"
      ">>> print('a', a)\na 1\n";
  for (const std::string p : {"0.0", "0.1", "0.5", "1.0"}) {
    const std::string cycle = fmt::format(
        ">>> if random() < {0}: b, c = c, b\n>>> if random() < {0}: b, c = c, b\n>>> print('b', "
        "b)\nb 2\n",
        p);
    for (const Rounding rounding : {Rounding::kNone, Rounding::kBf16, Rounding::kF16}) {
      ExactRun<float> run(model, Rounding::kNone, rounding);
      const auto read = [&](const std::string& text) {
        std::vector<float> logits;
        for (const std::uint32_t id : tokenizer.encode(text)) logits = run.step(id);
        return logits;
      };
      read(start);
      std::vector<std::vector<std::vector<float>>> states;
      constexpr int kSettled = 128;  // what rounding does is done by then
      for (int n = 0; n < kSettled + 2; ++n) {
        read(cycle);
        states.push_back(run.layer(0).states);
        states.back().push_back(run.layer(1).states[0]);
      }
      const auto &before = states[kSettled], &after = states[kSettled + 1];
      if (p != "1.0") {
        EXPECT_TRUE(before == after) << p;
      } else {
        double largest = 0, change = 0;
        for (std::size_t i = 0; i < before.back().size(); ++i) {
          largest = std::max<double>(largest, std::abs(before.back()[i]));
          change = std::max<double>(change, std::abs(before.back()[i] - after.back()[i]));
        }
        EXPECT_LT(change, 1e-6 * largest);
      }
      // c is known by exclusion, by half or a quarter of a value.
      const auto logits = read(
          ">>> if random() < 0.5: a, b = b, a\n>>> if random() < 0.5: a, b = b, a\n"
          ">>> print('c', c)\nc ");
      EXPECT_GT(belief_of(logits, 3)[2], 1 - 1e-6) << p;
    }
  }
}

// The recurrence as docs/exact-models.md says it, by the text's lines.
class Formulas {
 public:
  using Rows = std::vector<std::vector<double>>;

  explicit Formulas(std::size_t n) : rows(n, std::vector<double>(n)) {}

  void read(const std::string& line) {
    static const std::regex kMove(
        "(?:>>> if random\\(\\) < ([0-9.]+): |>>> )([a-p]), ([a-p]) = .*");
    static const std::regex kStart(">>> ([a-p]) = ([0-9]+)");
    static const std::regex kShown("(?:>>> assert )?([a-p]) (?:== )?([0-9]+)");
    static const std::regex kAll("[0-9]+( [0-9]+)+");
    std::smatch m;
    if (std::regex_match(line, m, kMove)) {
      first_ = place(m[2]);
      second_ = place(m[3]);
      p_ = m[1].matched ? std::stod(m[1]) : 1;
      move(first_, second_, 2 * p_, {});
    } else if (std::regex_match(line, m, kStart)) {
      rows[place(m[1])] = one_hot(m[2]);
    } else if (std::regex_match(line, m, kShown)) {
      const std::size_t x = place(m[1]);
      if (0 < p_ && p_ < 1 && (x == first_ || x == second_))
        move(x, x == first_ ? second_ : first_, 1, one_hot(m[2]));
      else
        rows[x] = one_hot(m[2]);
    } else if (std::regex_match(line, kAll)) {
      std::istringstream values(line);
      for (auto& row : rows) {
        std::string value;
        values >> value;
        row = one_hot(value);
      }
    }
  }

  Rows rows;

 private:
  static std::size_t place(const std::string& name) {
    return static_cast<std::size_t>(name[0] - 'a');
  }
  std::vector<double> one_hot(const std::string& value) const {
    std::vector<double> row(rows.size());
    row[static_cast<std::size_t>(std::stoi(value)) - 1] = 1;
    return row;
  }
  // The difference of two rows becomes (1 - beta) times itself, and `shown` in one of them.
  void move(std::size_t x, std::size_t y, double beta, const std::vector<double>& shown) {
    for (std::size_t v = 0; v < rows.size(); ++v) {
      const double sum = rows[x][v] + rows[y][v], difference = rows[x][v] - rows[y][v];
      const double after = (1 - beta) * difference + (shown.empty() ? 0 : shown[v]);
      rows[x][v] = (sum + after) / 2;
      rows[y][v] = (sum - after) / 2;
    }
  }

  std::size_t first_ = 0, second_ = 0;
  double p_ = 1;
};

TEST(Conserving, TheStateIsThatOfTheFormulas) {
  for (const int variables : kSanitized ? std::vector{3} : std::vector{2, 3, 5, 11}) {
    const auto n = static_cast<std::size_t>(variables);
    const Sampler sampler(parse_task(
        fmt::format("group = 'S{}'\nmoves = 'swaps'\nuncertainty = 'branching'\nprobability = "
                    "[0, 0.1, 0.3, 0.5, 0.8, 1]\nuncertain-share = 0.8\nreveal-forms = "
                    "'print,equal'\ncommands = 120\nspacing = 2\nfull-reveal-period = 30\n",
                    n),
        "task.toml"));
    const TraceMaker maker(sampler);
    Trace trace;
    maker.make(4, 0, trace, false);
    ExactRun<double> model(belief_model(ExactKind::kConserving, variables));
    Formulas formulas(n);
    std::istringstream text{std::string(trace.text.view())};
    double worst = 0, height = 0;
    for (std::string line; std::getline(text, line);) {
      for (const std::uint32_t id : LexemeTokenizer().encode(line + "\n")) model.step(id);
      formulas.read(line);
      const std::vector<double>& state = model.layer(1).states[0];
      const std::size_t columns =
          state.size() / static_cast<std::size_t>(model.layer(1).keys[0].size());
      for (std::size_t x = 0; x < n; ++x) {
        for (std::size_t v = 0; v < n; ++v) {
          const std::size_t pair = x - x % 2;  // rows (1, 1) and (1, -1), of length sqrt 2
          const double other = state[(pair + 1) * columns + v];
          const double found =
              (state[pair * columns + v] + (x % 2 == 0 ? other : -other)) / std::sqrt(2.0);
          if (height == 0 && found > 1) height = found;
          if (height > 0) worst = std::max(worst, std::abs(found / height - formulas.rows[x][v]));
        }
      }
    }
    EXPECT_GT(height, 100);
    EXPECT_LT(worst, 1e-3) << n;
  }
}

// A swap that is certain moves the rows only: such texts are followed without an error.
TEST(Conserving, CertainSwapsAreFollowed) {
  const LexemeTokenizer tokenizer;
  for (const char* uncertain : {"", "uncertainty = 'branching'\nprobability = [0, 1]\n"}) {
    for (const int n : {3, 6}) {
      const TraceSource source(
          parse_task(fmt::format("group = 'S{}'\nmoves = 'swaps'\ncommands = {}\nspacing = 3\n{}",
                                 n, shortened(300, 60), uncertain),
                     "task.toml"),
          tokenizer, {});
      ExactRun<float> run(belief_model(ExactKind::kConserving, n));
      const Asked asked = ask(run, source, 2);
      EXPECT_GE(asked.questions, 20u);
      EXPECT_LT(asked.miss, 1e-6) << uncertain;
    }
  }
}

TEST(Log, TheBeliefIsTheExactFilters) {
  const LexemeTokenizer tokenizer;
  for (const int n : {2, 3}) {
    const ExactModel model = belief_model(ExactKind::kLog, n);
    for (const char* start : {"uncertainty = 'unknown-start'\n",
                              "uncertainty = 'unknown-start'\ncondition = 'external'\n", ""}) {
      for (const int spacing : {1, 2, 5}) {
        const TraceSource source(
            parse_task(fmt::format("group = 'S{}'\nmoves = 'swaps'\ncommands = 60\nspacing = {}\n"
                                   "reveal-forms = 'print,equal'\n{}",
                                   n, spacing, start),
                       "task.toml"),
            tokenizer, {.seed = 3});
        std::size_t uncertain = 0;
        for (std::uint64_t index = 0; index < 4; ++index) {
          for (const Rounding rounding : {Rounding::kNone, Rounding::kBf16, Rounding::kF16}) {
            ExactRun<float> run(model, rounding);
            const Asked asked = ask(run, source, index);
            EXPECT_LT(asked.belief_error, 1e-6) << n << ' ' << start << spacing;
            uncertain += asked.uncertain;
          }
        }
        EXPECT_EQ(uncertain > 0, start[0] != 0);
      }
    }
  }
}

// c is shown and never moves, so that the belief about a is a half at the end as at the start.
TEST(Log, ThousandsOfStepsLeaveTheBelief) {
  const LexemeTokenizer tokenizer;
  const int commands = shortened(2000, 200);
  for (const Rounding rounding : {Rounding::kNone, Rounding::kBf16}) {
    ExactRun<float> run(belief_model(ExactKind::kLog, 3), rounding);
    const auto read = [&](const std::string& text) {
      std::vector<float> logits;
      for (const std::uint32_t id : tokenizer.encode(text)) logits = run.step(id);
      return belief_of(logits, 3);
    };
    read(">>> from random import sample\n>>> a, b, c = sample((1, 2, 3), k=3)\n");
    EXPECT_EQ(read(">>> print('c', c)\nc "), (std::vector<double>(3, 1.0 / 3)));
    read("3\n");
    double first = 0, last = 0;
    const auto largest = [&] {
      double most = 0;
      for (const float x : run.layer(1).states[0]) most = std::max<double>(most, std::abs(x));
      return most;
    };
    for (int i = 0; i < commands; ++i) {
      read(">>> a, b = b, a\n");
      const std::vector<double> c = read(">>> print('c', c)\nc ");
      EXPECT_LT(std::abs(c[2] - 1), 1e-6);
      const std::vector<double> a = read("3\n>>> print('a', a)\na ");
      EXPECT_LT(std::abs(a[0] - 0.5) + std::abs(a[1] - 0.5) + a[2], 1e-6);
      // The question is not answered: the text goes on as if it had not been asked.
      read("\n");
      if (i == 0) first = largest();
      last = largest();
    }
    EXPECT_LT(last, 1.1 * first);  // it is set, not added to
    const std::vector<double> b = read(">>> print('a', a)\na 1\n>>> print('b', b)\nb ");
    EXPECT_GT(b[1], 1 - 1e-6);
  }
}

TEST(Log, WhatIsNoHardRevealIsReadOver) {
  for (const char* line : {">>> assert a != 1\n", ">>> assert a in (1, 2)\n"}) {
    ExactRun<float> run(belief_model(ExactKind::kLog, 3));
    const std::string text =
        std::string(">>> from random import sample\n>>> a, b, c = sample((1, 2, 3), k=3)\n") +
        line + ">>> print('a', a)\na ";
    std::vector<float> logits;
    for (const std::uint32_t id : LexemeTokenizer().encode(text)) logits = run.step(id);
    EXPECT_EQ(belief_of(logits, 3), (std::vector<double>(3, 1.0 / 3))) << line;
  }
}

TEST(Exact, WhatTheBeliefModelsCannotDoIsRefused) {
  for (const ExactKind kind : {ExactKind::kConserving, ExactKind::kLog}) {
    EXPECT_THROW(exact_model({.variables = 3, .kind = kind}), UsageError);
    EXPECT_THROW(
        exact_model({.variables = 3, .kind = kind, .moves = ExactMoves::kSwaps, .silu = true}),
        UsageError);
    EXPECT_THROW(exact_model({.variables = 3,
                              .kind = kind,
                              .moves = ExactMoves::kSwaps,
                              .representation = ExactRepresentation::kStandard}),
                 UsageError);
  }
  EXPECT_THROW(belief_model(ExactKind::kLog, 4), UsageError);
  EXPECT_NO_THROW(belief_model(ExactKind::kConserving, 16));
}

}  // namespace
}  // namespace shellgame
