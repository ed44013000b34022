// Passes over a vector with one entry for each state of S_n, the lists value[variable] of n
// different values, in the lexicographic order of Permutation::rank(n). They are the hot loops of
// an exact Bayes filter, and take raw pointers: the caller owns n! entries. Nothing of the size of
// n! is stored beside them. All passes use the threads of parallel_for, and their results are the
// same bits for any number of threads. Real is float or double; sums are accumulated in double.
//
// To condition on a reveal and renormalise, a caller needs one pass: it keeps a factor beside the
// vector, and divides the factor by what reveal() returns. A mixture can absorb the factor in its
// weights; reveal() can in its own, when it comes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shellgame/groups/acts.h"
#include "shellgame/groups/permutation.h"

namespace shellgame {

// n! entries of a vector; 0 <= n <= 13. Throws UsageError beyond, here and below.
std::size_t permutation_count(int n);

// out[q'] = sum over k of weights[k] * in[q] for the q that outcomes[k] takes to q'. The identities
// among the outcomes are added up and cost nothing more; each other outcome is one gather, in cache
// tiles. in and out must not overlap.
template <class Real>
void mix(int n, Acts acts, std::span<const Permutation> outcomes, std::span<const Real> weights,
         const Real* in, Real* out);

// Whether mix_in_place can do it: nothing is moved but by one involution (a swap, or disjoint
// ones), as an outcome of any multiplicity, beside any number of identities.
bool can_mix_in_place(std::span<const Permutation> outcomes);
// The same sums as mix(), to the bit, in half the memory.
template <class Real>
void mix_in_place(int n, Acts acts, std::span<const Permutation> outcomes,
                  std::span<const Real> weights, Real* data);

// Conditions on value[variable] being in the bit set `allowed_values`: zeroes all other states,
// multiplies those that survive by `factor`, and returns their sum (0 if the reveal is impossible).
// With the factor 1 states that survive in long runs are only read. Entries must be finite.
template <class Real>
double reveal(int n, int variable, std::uint32_t allowed_values, Real* data, Real factor = 1);

// sums[x] = the sum over the states with value[variable] == x; n sums.
template <class Real>
void predict(int n, int variable, const Real* data, double* sums);
// sums[variable * n + x], all of them in one pass.
template <class Real>
void marginals(int n, const Real* data, double* sums);

template <class Real>
double sum(int n, const Real* data);
template <class Real>
void scale(int n, Real factor, Real* data);

}  // namespace shellgame
