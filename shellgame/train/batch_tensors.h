// A batch's plain arrays as tensors: its ids, and the targets that a loss asked for.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "shellgame/episodes/batcher.h"
#include "shellgame/models/loss.h"

namespace shellgame {

// A batch's numbers [B, T], where they are: the batch must outlive the tensor.
at::Tensor tensor_of(const std::vector<std::int64_t>& numbers, const Batch& batch);
// On a CPU the hard targets, too, are where the batch has them.
LossTargets targets_of(const Batch& batch, const AskedTargets& asked, at::Device device);

}  // namespace shellgame
