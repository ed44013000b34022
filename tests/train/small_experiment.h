// Experiments of a second, for tests of the loop.
#pragma once

#include <string>
#include <vector>

#include "shellgame/train/experiment.h"

namespace shellgame {

// S_3 swaps, one layer of width 16: eight steps at (2,1), then ten steps of streams with
// accumulation.
inline Experiment small_experiment(const std::vector<std::string>& changes = {}) {
  return parse_experiment(R"(
name = "small"
threads = 1
[task]
group = "S3"
moves = "swaps"
[model]
model_type = "delta_net"
hidden_size = 16
num_hidden_layers = 1
num_heads = 2
intermediate_size = 24
allow_neg_eigval = true
[optimiser]
learning-rate = 3e-3
[checkpoint]
seconds = 0
every = 3
[[stages]]
commands = 2
spacing = 1
batch = 4
steps = 8
[[stages]]
commands = 4
spacing = [1, 2]
batch = 3
accumulation = 2
steps = 10
stream = { segments = { from = 2, to = 4, over = 0.5 } }
)",
                          "small.toml", changes);
}

}  // namespace shellgame
