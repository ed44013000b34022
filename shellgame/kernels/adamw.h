// One step of AdamW over a list of parameters, and the norm of all gradients. Same bits for any
// number of threads: fixed blocks, partial sums added in order.
#pragma once

#include <cstdint>
#include <span>

namespace shellgame {

struct AdamwParameter {
  float* value = nullptr;           // [size]
  const float* gradient = nullptr;  // [size]
  float* mean = nullptr;            // [size], first moment
  float* square = nullptr;          // [size], second moment
  std::int64_t size = 0;
  double learning_rate = 0;
  double decay = 0;  // decoupled: value *= 1 - learning_rate * decay
};

struct AdamwStep {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  std::int64_t step = 1;      // counted from 1, for the bias corrections
  double gradient_scale = 1;  // the clip factor: gradients are read as scale * gradient
};

// value -= lr * (mean / (1 - beta1^step)) / (sqrt(square / (1 - beta2^step)) + eps), as Torch does.
void adamw(std::span<const AdamwParameter> parameters, const AdamwStep& step);

struct GradientPart {
  const float* data = nullptr;
  std::int64_t size = 0;
};
// sqrt of the sum of all squares, summed in double.
double gradient_norm(std::span<const GradientPart> gradients);

}  // namespace shellgame
