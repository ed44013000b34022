// `shellgame probe cycle`: what a model remembers of traces that repeat themselves. Read N times
// the same tokens, then ask: does it still know what it knew before them? Beside the answer stand
// the causes: the norm of what each head holds, how far the states of two traces that differ in one
// token are apart (twins), what rounding the state does, and, for heads of the delta rule, the
// answer that follows in closed form from one cycle (monodromy).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shellgame/probe/heads.h"

namespace shellgame {

// Traces cut into what comes before the cycle, one cycle, and what asks after it: row by row, side
// by side.
struct CycleTraces {
  at::Tensor prefix, cycle, ending;                          // [B, tokens], int64
  std::vector<std::vector<std::int64_t>> values;             // by row: the token of each value
  std::vector<std::size_t> truths;                           // by row: which of them is right
  std::vector<std::pair<std::int64_t, std::int64_t>> twins;  // rows that differ in one token
};

// Finds the cycle in the tokens: the shortest period that repeats for the longest stretch before
// the last question, the same in every row. Throws UsageError where there is none, where rows
// differ in it, or where a value has several tokens.
CycleTraces cycle_of(const std::vector<WholeEpisode>& traces);

struct CycleQuestion {
  std::vector<std::int64_t> cycles = {1, 4, 8, 16, 32, 64, 128, 256};  // rising; where it is asked
  std::vector<std::int64_t> measured = {3, 64};         // cycles at which the monodromy is measured
  std::vector<std::string> rounded = {"fp16", "bf16"};  // formats of the state; may be empty
};

// The state of a head of the delta rule after each cycle is S' = M S + C: M [K, K] is the product
// of the cycle's steps, C what it writes. Measured on one cycle, in double.
struct Monodromy {
  HeadPlace place;
  at::Tensor m;      // [B, K, K]
  at::Tensor c;      // [B, K, V]
  at::Tensor start;  // [B, K, V]: S before the measured cycle
  // S after `cycles` more: M^cycles S + (M^(cycles - 1) + ... + 1) C.
  at::Tensor after(std::int64_t cycles) const;
  // The mean over rows of the largest moduli of M's eigenvalues, the largest first.
  std::vector<double> spectrum(std::size_t count) const;
};
// Runs one cycle from `state` (which becomes that after it). Empty if any layer with a state is not
// of the delta rule: then the others' inputs do not repeat either.
std::vector<Monodromy> measure_monodromy(const Model& model, const CycleTraces& traces,
                                         ModelState& state);

// {"period": tokens, "traces", "twins", "cells": [{axes: ["cycles"], cycles, miss, twins, norm,
// miss_fp16, ..., predicted_3, ...}], "heads": [{layer, head, norm, twins (by cycles), restored,
// spectrum_3, ...}]}. `miss` is the mean probability of the wrong values; `twins` the distance of
// the twins' states over that after one cycle; `restored` the miss at the last number of cycles if
// this head is given what it held at the second.
nlohmann::ordered_json probe_cycle(const Model& model, const std::vector<WholeEpisode>& traces,
                                   const CycleQuestion& question);

}  // namespace shellgame
