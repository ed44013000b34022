// The marginal decoder against the exact belief: where they agree, and that they do not elsewhere.
#include "shellgame/decay/marginal_error.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/sinkhorn.h"
#include "shellgame/system/threads.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

Task branching(const std::string& group, Moves moves, std::uint64_t spacing) {
  Task task;
  task.group = group;
  task.moves = moves;
  task.branching = true;
  task.probabilities = {0.3};
  task.spacing = spacing;
  task.commands = 24;
  return task;
}

TEST(MarginalError, BeforeAnyRevealTheMatrixIsTheExactMarginals) {
  for (const bool unknown : {false, true}) {
    for (Moves moves : {Moves::kSwaps, Moves::kPermutations}) {
      Task task = branching("S5", moves, 1);
      task.reveals = Reveals::kNone;
      task.unknown_start = unknown;
      const ProgramWord word = word_of(Sampler(task).sample(1, 2));
      const auto exact = make_filter(word.automaton);
      const auto marginal = make_filter(word.automaton, {.kind = FilterKind::kMarginal});
      for (SymbolId id : word.word) {
        exact->step(id);
        marginal->step(id);
        const auto p = exact->marginals(), q = marginal->marginals(), h = marginal->state();
        for (std::size_t k = 0; k < p.size(); ++k) {
          EXPECT_NEAR(p[k], h[k], 1e-12);
          EXPECT_NEAR(p[k], q[k], 1e-12);
        }
      }
    }
  }
}

TEST(MarginalError, AfterRevealsItIsNotAndTheDecoderLosesMore) {
  const MarginalError error =
      marginal_error(branching("S5", Moves::kPermutations, 2), {.traces = 60});
  EXPECT_EQ(error.reveals, 60u * 12);
  EXPECT_GT(error.total_variation.value, 10 * error.total_variation.error);
  EXPECT_GT(error.divergence.value, 0);
  EXPECT_GT(error.decoder_loss.value, error.exact_loss.value);
  EXPECT_LE(error.total_variation.value, error.largest_variation);
  // Pinsker: tv^2 <= KL / 2.
  EXPECT_LE(error.total_variation.value * error.total_variation.value,
            error.divergence.value / 2 + 1e-12);
}

TEST(MarginalError, ResultsDoNotDependOnThreads) {
  const Task task = branching("S4", Moves::kSwaps, 2);
  const int before = thread_count();
  set_thread_count(1);
  const MarginalError one = marginal_error(task, {.traces = 10});
  set_thread_count(3);
  const MarginalError three = marginal_error(task, {.traces = 10});
  set_thread_count(before);
  EXPECT_EQ(one.total_variation.value, three.total_variation.value);
  EXPECT_EQ(one.decoder_loss.value, three.decoder_loss.value);
}

TEST(MarginalError, SinkhornIsNotTheMarginalsOfAFactorisedWeight) {
  // Both agree on rank-one matrices and permutations, and at n = 2 they differ already:
  // H = [1 a; b 1] has marginal 1 / (1 + ab), Sinkhorn gives 1 / (1 + sqrt(ab)).
  const std::vector<double> two = {1, 0.9, 0.1, 1};
  EXPECT_NEAR(permanent_marginals(two, 2)[0], 1 / 1.09, 1e-15);
  EXPECT_NEAR(sinkhorn(two, 2, 1e-13, 10'000).matrix[0], 1 / 1.3, 1e-12);
  for (std::size_t n = 3; n <= 5; ++n) {
    std::vector<double> flat(n * n), uneven(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        flat[i * n + j] = static_cast<double>((i + 1) * (j + 2));
        uneven[i * n + j] = i == j ? 3 : 1;
      }
    }
    EXPECT_NEAR(permanent_marginals(flat, n)[1], 1.0 / static_cast<double>(n), 1e-12);
    EXPECT_NEAR(sinkhorn(flat, n, 1e-13, 10'000).matrix[1], 1.0 / static_cast<double>(n), 1e-12);
    const double exact = permanent_marginals(uneven, n)[0];
    const double decoded = sinkhorn(uneven, n, 1e-13, 10'000).matrix[0];
    EXPECT_GT(std::abs(exact - decoded), 0.01) << n;
  }
}

TEST(MarginalError, RevealsOfMoreThanAValueAreRefused) {
  Task task = branching("S4", Moves::kSwaps, 2);
  task.reveal_forms = {RevealForm::kMember};
  EXPECT_THROW(marginal_error(task, {.traces = 2}), UsageError);
}

}  // namespace
}  // namespace shellgame
