#include "shellgame/models/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/render.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tensors/safetensors.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/traces/trace.h"
#include "tests/support/exact_run.h"
#include "tests/support/shortened.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

struct Seen {
  std::size_t reveals = 0, wrong = 0;
  double margin = 1e9;     // of the right value over every other token, at reveals
  std::set<double> betas;  // of both layers
  double key_error = 0;    // of |k|^2 from 1, where beta is not 0 and a key is meant
};

std::string text_of(const std::string& toml, std::uint64_t seed) {
  const Sampler sampler(parse_task(toml, "task.toml"));
  const TraceMaker maker(sampler);
  Trace trace;
  maker.make(seed, 0, trace, false);
  return std::string(trace.text.view());
}

bool is_value(const std::string& token) { return std::isdigit(token[0]) != 0; }

// Runs a text and judges every value that a print or an `assert ==` shows.
template <class Real>
Seen run(ExactRun<Real>& model, const std::string& text) {
  const auto ids = LexemeTokenizer().encode(text);
  const auto& tokens = LexemeTokenizer::vocabulary();
  Seen seen;
  for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
    const std::vector<Real> logits = model.step(ids[t]);
    for (std::size_t l = 0; l < 2; ++l) {
      for (std::size_t h = 0; h < model.layer(l).beta.size(); ++h) {
        const auto beta = static_cast<double>(model.layer(l).beta[h]);
        seen.betas.insert(beta);
        const auto& key = model.layer(l).keys[h];
        const double square = std::inner_product(key.begin(), key.end(), key.begin(), 0.0);
        if (beta != 0 && square > 1e-6)
          seen.key_error = std::max(seen.key_error, std::abs(square - 1));
      }
    }
    const std::string& next = tokens[ids[t + 1]];
    if (!is_value(next) || tokens[ids[t]] == " = ") continue;
    ++seen.reveals;
    double best = -1e30;
    for (std::size_t id = 0; id < logits.size(); ++id)
      if (id != ids[t + 1]) best = std::max(best, static_cast<double>(logits[id]));
    const double margin = static_cast<double>(logits[ids[t + 1]]) - best;
    seen.margin = std::min(seen.margin, margin);
    if (!(margin > 0)) ++seen.wrong;
  }
  return seen;
}

const std::set<double> kBetas = {0, 1, 2};

struct Variant {
  ExactMoves moves;
  bool silu;
  ExactRepresentation representation;
  std::vector<const char*> texts;  // kinds of moves that it reads
};

const Variant kVariants[] = {
    {ExactMoves::kPermutations,
     false,
     ExactRepresentation::kPermutation,
     {"permutations", "swaps"}},
    {ExactMoves::kPermutations, true, ExactRepresentation::kPermutation, {"permutations", "swaps"}},
    {ExactMoves::kSwaps, true, ExactRepresentation::kPermutation, {"swaps"}},
    {ExactMoves::kSwaps, false, ExactRepresentation::kPermutation, {"swaps"}},
    {ExactMoves::kSwaps, false, ExactRepresentation::kStandard, {"swaps"}},
};

ExactModel model_of(const Variant& variant, int variables) {
  return exact_model({.variables = variables,
                      .moves = variant.moves,
                      .representation = variant.representation,
                      .silu = variant.silu});
}

TEST(Exact, EveryRevealOfEveryVariantIsRight) {
  for (const Variant& variant : kVariants) {
    for (const int n : kSanitized ? std::vector{2, 5} : std::vector{2, 3, 4, 5, 6, 7, 10, 16}) {
      const ExactModel model = model_of(variant, n);
      for (const char* moves : variant.texts) {
        for (const int spacing : n < 8 ? std::vector{1, 3, 8} : std::vector{3}) {
          const std::string toml = fmt::format(
              "group = 'S{}'\nmoves = '{}'\ncommands = 40\nspacing = {}\nreveal-forms = "
              "'print,equal'\ninitial-reveal = 'all'\nfull-reveal-period = 7\nreveal-count = {}\n",
              n, moves, spacing, spacing == 3 ? 2 : 1);
          ExactRun<float> float_run(model);
          const Seen seen = run(float_run, text_of(toml, static_cast<std::uint64_t>(n)));
          EXPECT_EQ(seen.wrong, 0u) << toml;
          EXPECT_GT(seen.reveals, 40u / static_cast<unsigned>(spacing));
          EXPECT_GT(seen.margin, 15) << toml;
          EXPECT_EQ(seen.betas, kBetas) << toml;
          EXPECT_LT(seen.key_error, 5e-7) << toml;
        }
      }
    }
  }
}

TEST(Exact, OneModelReadsSwapsAndPermutationsMixed) {
  for (const int n : kSanitized ? std::vector{3} : std::vector{2, 3, 4, 5, 8}) {
    RandomStream stream(1, static_cast<std::uint64_t>(n), Lane::kSequence);
    std::vector<std::string> names, state;
    std::string text;
    for (int i = 0; i < n; ++i) {
      names.emplace_back(1, static_cast<char>('a' + i));
      state.push_back(std::to_string(i + 1));
      text += fmt::format(">>> {} = {}\n", names.back(), state.back());
    }
    for (int command = 0; command < 200; ++command) {
      std::vector<std::size_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), 0u);
      for (std::size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[stream.below(static_cast<std::uint32_t>(i) + 1)]);
      if (stream.below(2) == 0) {  // a swap, in either order of its targets
        const std::size_t i = order[0], j = order[1];
        text += fmt::format(">>> {0}, {1} = {1}, {0}\n", names[i], names[j]);
        std::swap(state[i], state[j]);
      } else {
        std::vector<std::string> sources, values;
        for (const std::size_t i : order) {
          sources.push_back(names[i]);
          values.push_back(state[i]);
        }
        text += fmt::format(">>> {} = {}\n", fmt::join(names, ", "), fmt::join(sources, ", "));
        state = values;
      }
      const std::size_t shown = stream.below(static_cast<std::uint32_t>(n));
      text += fmt::format(">>> print('{0}', {0})\n{0} {1}\n", names[shown], state[shown]);
    }
    if (n == 2) continue;  // `b, a = a, b` is a permutation whose targets are not in order
    for (const bool silu : {false, true}) {
      ExactRun<float> model(exact_model({.variables = n, .silu = silu}));
      const Seen seen = run(model, text);
      EXPECT_EQ(seen.wrong, 0u) << n;
      EXPECT_EQ(seen.reveals, 200u);
    }
  }
}

TEST(Exact, SixteenThousandPermutationsOfFiveLeaveNoTrace) {
  const int commands = shortened(16384, 1024);
  const std::string text = text_of(
      fmt::format("group = 'S5'\nmoves = 'permutations'\ncommands = {}\nspacing = 64\n", commands),
      0);
  ExactRun<float> model(exact_model({.variables = 5}));
  const Seen seen = run(model, text);
  EXPECT_EQ(seen.reveals, static_cast<std::size_t>(commands) / 64);
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_GT(seen.margin, 40);
  EXPECT_EQ(seen.betas, kBetas);
}

// Reveals give nothing back: without any in between, the first is as right as the last.
TEST(Exact, NothingIsLearntFromReveals) {
  const std::string text =
      text_of(fmt::format("group = 'S4'\nmoves = 'permutations'\ncommands = {0}\nspacing = {0}\n",
                          shortened(4096, 256)),
              3);
  for (const bool silu : {false, true}) {
    ExactRun<float> model(exact_model({.variables = 4, .silu = silu}));
    const Seen seen = run(model, text);
    EXPECT_EQ(seen.reveals, 1u);
    EXPECT_EQ(seen.wrong, 0u);
  }
  // A false output does not change what is believed.
  ExactRun<float> model(exact_model({.variables = 3}));
  std::string lie = ">>> a = 1\n>>> b = 2\n>>> c = 3\n>>> print('a', a)\na 2\n";
  for (const std::uint32_t id : LexemeTokenizer().encode(lie)) model.step(id);
  EXPECT_EQ(run(model, ">>> print('a', a)\na 1\n>>> print('b', b)\nb 2\n").wrong, 0u);
}

TEST(Exact, SixteenBitsAreEnough) {
  for (const Variant& variant : kVariants) {
    if (variant.representation == ExactRepresentation::kStandard) continue;
    const ExactModel model = model_of(variant, 5);
    for (const char* moves : variant.texts) {
      const std::string text =
          text_of(fmt::format("group = 'S5'\nmoves = '{}'\ncommands = {}\nspacing = 4\n", moves,
                              shortened(512, 64)),
                  1);
      for (const Rounding rounding : {Rounding::kBf16, Rounding::kF16}) {
        ExactRun<float> run_rounded(model, rounding);
        const Seen seen = run(run_rounded, text);
        EXPECT_EQ(seen.wrong, 0u) << moves;
        EXPECT_EQ(seen.betas, kBetas);
      }
    }
  }
}

// In 16 bits keys have entries 0, 1/2 and 1 exactly, so that the state only moves; in float the
// norm of a key may be an ulp off, which changes a height by less than 3e-7 a swap.
TEST(Exact, ReflectionsOnlyMoveTheState) {
  const int swaps = shortened(3000, 300);
  const std::string text = text_of(
      fmt::format("group = 'S5'\nmoves = 'swaps'\ncommands = {}\nspacing = 100\n", swaps), 2);
  const std::string start = text.substr(0, text.find(", ") - 5);
  const ExactModel model = exact_model({.variables = 5, .moves = ExactMoves::kSwaps});
  for (const Rounding rounding : {Rounding::kNone, Rounding::kBf16, Rounding::kF16}) {
    ExactRun<float> run_model(model, rounding);
    for (const std::uint32_t id : LexemeTokenizer().encode(start)) run_model.step(id);
    const auto heights = [&] {
      std::vector<float> all;
      for (const float x : run_model.layer(1).states[0]) all.push_back(std::abs(x));
      std::sort(all.begin(), all.end());
      return all;
    };
    const std::vector<float> before = heights();
    ASSERT_GT(before.back(), 100);
    EXPECT_EQ(run(run_model, text.substr(start.size())).wrong, 0u);
    const std::vector<float> after = heights();
    const float allowed =
        rounding == Rounding::kNone ? 3e-7f * static_cast<float>(swaps) * before.back() : 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_LE(std::abs(after[i] - before[i]), allowed);
  }
}

struct MarginalCase {
  int variables;
  double probability;
  const char* rest;
};

// At the end of every command and every output, H is the filter's own matrix.
TEST(Exact, TheMarginalModelIsTheLinearFilter) {
  for (const MarginalCase& one :
       {MarginalCase{3, 0.5, ""}, MarginalCase{5, 0.5, ""},
        MarginalCase{5, 0.5, "uncertain-share = 0.5\nreveal-forms = 'print,equal'\n"},
        MarginalCase{4, 0.25, "reveal-count = 2\n"},
        MarginalCase{6, 0.9, "full-reveal-period = 11\n"}}) {
    const auto n = static_cast<std::size_t>(one.variables);
    const Sampler sampler(parse_task(
        fmt::format("group = 'S{}'\nmoves = 'swaps'\nuncertainty = 'branching'\nprobability = {}\n"
                    "commands = 150\nspacing = 3\n{}",
                    n, one.probability, one.rest),
        "task.toml"));
    const Program program = sampler.sample(5, 0);
    const ProgramWord read = word_of(program);
    const auto filter = make_filter(read.automaton, {.kind = FilterKind::kMarginal});
    ExactRun<double> model(exact_model({.variables = one.variables,
                                        .kind = ExactKind::kMarginal,
                                        .moves = ExactMoves::kSwaps,
                                        .probability = one.probability}));
    std::size_t next = 0;
    double worst = 0;
    std::uint64_t environment = 0;
    for (std::uint32_t event = 0; event < program.events().size(); ++event) {
      std::string line;
      render_event(program, program.events()[event], environment, line);
      for (const std::uint32_t id : LexemeTokenizer().encode(line)) model.step(id);
      if (next == read.events.size() || read.events[next] != event) continue;
      filter->step(read.word[next++]);
      const std::vector<double> expected = filter->state();
      ASSERT_EQ(expected.size(), n * n);
      for (std::size_t i = 0; i < n * n; ++i)
        worst = std::max(worst, std::abs(model.layer(1).states[0][i] - expected[i]));
    }
    EXPECT_EQ(next, read.word.size());
    EXPECT_LT(worst, 1e-5) << one.rest;
  }
}

TEST(Exact, ADirectoryHoldsTheModel) {
  const ScratchFolder scratch;
  const ExactModel model = exact_model({.variables = 4});
  write_exact_model(model, scratch / "new/model");
  const SafetensorsFile file(scratch / "new/model/model.safetensors");
  EXPECT_EQ(file.tensors().size(), model.tensors.size());
  for (const ExactTensor& tensor : model.tensors) {
    EXPECT_EQ(file.at(tensor.name).shape, tensor.shape);
    const std::vector<float> stored = file.floats(tensor.name);
    for (std::size_t i = 0; i < stored.size(); ++i)
      ASSERT_EQ(stored[i], static_cast<float>(tensor.values[i])) << tensor.name;
  }
  const auto config = nlohmann::json::parse(read_file(scratch / "new/model/config.json"));
  EXPECT_EQ(config.at("model_type"), "delta_net");
  EXPECT_EQ(config.at("allow_neg_eigval"), true);
  EXPECT_EQ(read_file(scratch / "new/model/tokenizer.json"), lexeme_tokenizer_json());
}

TEST(Exact, WhatNoExactModelCanDoIsRefused) {
  EXPECT_THROW(exact_model({.variables = 1}), UsageError);
  EXPECT_THROW(exact_model({.variables = 17}), UsageError);
  EXPECT_THROW(exact_model({.representation = ExactRepresentation::kStandard}), UsageError);
  EXPECT_THROW(exact_model({.kind = ExactKind::kMarginal}), UsageError);
  EXPECT_THROW(
      exact_model({.kind = ExactKind::kMarginal, .moves = ExactMoves::kSwaps, .probability = 1}),
      UsageError);
}

}  // namespace
}  // namespace shellgame
