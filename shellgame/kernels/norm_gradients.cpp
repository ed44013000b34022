#include "shellgame/kernels/norm_gradients.h"

#include <algorithm>
#include <vector>

#include "shellgame/kernels/scratch.h"
#include "shellgame/system/threads.h"

namespace shellgame {

void split_norm_gradient(std::span<const Weight> weights, std::int64_t width,
                         const float* norm_weight, const float* sum, float* d_norm_weight,
                         std::span<float* const> d_weights) {
  constexpr std::int64_t kOuts = 64;  // of one item
  struct Part {
    std::size_t weight;
    std::int64_t out, count;
    const float* sum;
  };
  std::vector<Part> parts;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::int64_t out = 0; out < weights[i].out; out += kOuts) {
      const std::int64_t count = std::min(kOuts, weights[i].out - out);
      parts.push_back({i, out, count, sum});
      sum += count * width;
    }
  }
  Scratch norms(static_cast<std::int64_t>(parts.size()) * width);
  std::fill(norms.data(), norms.data() + norms.size(), 0.0F);
  parallel_for(parts.size(), [&](std::size_t p) {
    const Part& part = parts[p];
    float* norm = norms.data() + static_cast<std::int64_t>(p) * width;
    for (std::int64_t o = 0; o < part.count; ++o) {
      const float* from = part.sum + o * width;
      const float* weight = weights[part.weight].data + (part.out + o) * width;
      for (std::int64_t j = 0; j < width; ++j) norm[j] += from[j] * weight[j];
      if (d_weights[part.weight] == nullptr) continue;
      float* to = d_weights[part.weight] + (part.out + o) * width;
      for (std::int64_t j = 0; j < width; ++j)
        to[j] = norm_weight == nullptr ? from[j] : from[j] * norm_weight[j];
    }
  });
  if (d_norm_weight == nullptr) return;
  std::fill(d_norm_weight, d_norm_weight + width, 0.0F);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::int64_t j = 0; j < width; ++j)
      d_norm_weight[j] += norms.data()[static_cast<std::int64_t>(p) * width + j];
  }
}

}  // namespace shellgame
