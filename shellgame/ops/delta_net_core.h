// The middle of DeltaNet fused into one operation, from the projections to what the output
// projection reads; fp32 on a CPU. The mixer's own chain of operations is its composed twin.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace shellgame {

struct DeltaNetCore {
  std::int64_t heads = 1, key_width = 1, value_width = 1;
  bool beta = true, gate = false;  // whether the projections have them
  std::string activation = "silu", norm = "l2";
  double beta_range = 1, eps = 1e-6;
  at::Tensor q_conv, k_conv, v_conv;  // [channels, 1, W], or undefined: no convolution
  at::Tensor norm_weight;             // [V]
};

// What is remembered: undefined at the beginning.
struct DeltaNetMemory {
  at::Tensor recurrent;               // [B, H, K, V]
  at::Tensor conv_q, conv_k, conv_v;  // [B, channels, W]
};

// projections [B, T, q | k | v | beta | gate] to [B, T, H * V]. `memory`, if given, in and out.
at::Tensor delta_net_core(const at::Tensor& projections, const DeltaNetCore& core,
                          DeltaNetMemory* memory);

}  // namespace shellgame
