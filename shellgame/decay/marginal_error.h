// How wrong the marginal recurrence with its Sinkhorn decoder is: its distribution of a variable
// that is about to be revealed against the exact belief's, over traces of a task. Before the first
// reveal both agree. A reveal that tells how variables hang together is lost on the matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "shellgame/beliefs/filter.h"
#include "shellgame/tasks/task.h"

namespace shellgame {

// A mean over traces (each trace's own mean is one observation), with its standard error.
struct Mean {
  double value = 0, error = 0;
};

struct MarginalError {
  std::uint64_t traces = 0;
  std::uint64_t reveals = 0;
  // Of the variable that is revealed next, just before.
  Mean total_variation;
  Mean divergence;                // KL(exact || marginal) in nats, over those that are finite
  double largest_variation = 0;   // over all reveals
  double largest_divergence = 0;  // of the finite ones
  std::uint64_t infinite = 0;     // the decoder gives 0 to a value that is possible
  Mean other_guess;               // the share whose most likely value is not one of the exact's
  Mean exact_loss, decoder_loss;  // -log of the value that came, nats; infinite ones left out
  // Of all variables at the same moments.
  Mean variation_of_all;
  std::uint64_t unconverged = 0;  // the decoder's sums still miss 1 by more than the tolerance
  std::uint64_t vanished = 0;     // a row or column had no mass; counted in no mean
};

struct MarginalErrorOptions {
  std::uint64_t traces = 200, seed = 0, first_index = 0;
  double tolerance = 1e-9;  // of the decoder
  int rounds = 2000;
};

// The task must reveal variables one by one with their values. Deterministic; runs on all threads.
MarginalError marginal_error(const Task& task, const MarginalErrorOptions& options);

// The probability of each value of each variable if an order has a weight in proportion to the
// product of its entries in `matrix` (n x n): ratios of permanents, by all n! orders. This is what
// a matrix means as a distribution over orders; Sinkhorn gives another doubly stochastic matrix.
std::vector<double> permanent_marginals(const std::vector<double>& matrix, std::size_t n);

}  // namespace shellgame
