#include "shellgame/kernels/adamw.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "shellgame/system/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "shellgame/kernels/adamw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

namespace shellgame {
#ifndef SHELLGAME_KERNELS_ADAMW_ONCE
#define SHELLGAME_KERNELS_ADAMW_ONCE
// The numbers of a step, rounded once.
struct AdamwFactors {
  float beta1, rest1, beta2, rest2, eps, gradient_scale;
  float keep;          // 1 - learning rate * decay
  float step_size;     // learning rate / (1 - beta1^step)
  float square_scale;  // 1 / sqrt(1 - beta2^step)
};
#endif
}  // namespace shellgame

HWY_BEFORE_NAMESPACE();
namespace shellgame {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void adamw_block(const AdamwFactors& f, std::int64_t size, float* value, const float* gradient,
                 float* mean, float* square) {
  const hn::CappedTag<float, 16> d;
  const auto one = [&](auto v, auto g, auto& m, auto& s) HWY_ATTR {
    const hn::DFromV<decltype(v)> dv;
    g = hn::Mul(g, hn::Set(dv, f.gradient_scale));
    m = hn::MulAdd(m, hn::Set(dv, f.beta1), hn::Mul(g, hn::Set(dv, f.rest1)));
    s = hn::MulAdd(s, hn::Set(dv, f.beta2), hn::Mul(hn::Mul(g, g), hn::Set(dv, f.rest2)));
    const auto root = hn::MulAdd(hn::Sqrt(s), hn::Set(dv, f.square_scale), hn::Set(dv, f.eps));
    return hn::NegMulAdd(hn::Set(dv, f.step_size), hn::Div(m, root),
                         hn::Mul(v, hn::Set(dv, f.keep)));
  };
  std::int64_t i = 0;
  const auto sweep = [&](auto tag) HWY_ATTR {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    for (; i + lanes <= size; i += lanes) {
      auto m = hn::LoadU(tag, mean + i);
      auto s = hn::LoadU(tag, square + i);
      hn::StoreU(one(hn::LoadU(tag, value + i), hn::LoadU(tag, gradient + i), m, s), tag,
                 value + i);
      hn::StoreU(m, tag, mean + i);
      hn::StoreU(s, tag, square + i);
    }
  };
  sweep(d);
  sweep(hn::CappedTag<float, 1>());
}

// Eight sums in double, each of every eighth value, whatever the target's vectors hold.
double square_sum(std::int64_t size, const float* values) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (int j = 0; j < 8; ++j) {
      const double value = static_cast<double>(values[i + j]);
      sums[j] += value * value;
    }
  }
  for (int j = 0; i < size; ++i, ++j) {
    sums[j] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace HWY_NAMESPACE
}  // namespace shellgame
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shellgame {

HWY_EXPORT(adamw_block);
HWY_EXPORT(square_sum);

namespace {

constexpr std::int64_t kBlock = 1 << 15;

struct Block {
  std::size_t part;
  std::int64_t first, count;
};

template <class Parts>
std::vector<Block> blocks_of(const Parts& parts) {
  std::vector<Block> blocks;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::int64_t first = 0; first < parts[p].size; first += kBlock)
      blocks.push_back({p, first, std::min(kBlock, parts[p].size - first)});
  }
  return blocks;
}

}  // namespace

void adamw(std::span<const AdamwParameter> parameters, const AdamwStep& step) {
  const std::vector<Block> blocks = blocks_of(parameters);
  const double correction1 = 1 - std::pow(step.beta1, static_cast<double>(step.step));
  const double correction2 = 1 - std::pow(step.beta2, static_cast<double>(step.step));
  parallel_for(blocks.size(), [&](std::size_t b) {
    const Block& block = blocks[b];
    const AdamwParameter& p = parameters[block.part];
    AdamwFactors f;
    f.beta1 = static_cast<float>(step.beta1);
    f.rest1 = static_cast<float>(1 - step.beta1);
    f.beta2 = static_cast<float>(step.beta2);
    f.rest2 = static_cast<float>(1 - step.beta2);
    f.eps = static_cast<float>(step.eps);
    f.gradient_scale = static_cast<float>(step.gradient_scale);
    f.keep = static_cast<float>(1 - p.learning_rate * p.decay);
    f.step_size = static_cast<float>(p.learning_rate / correction1);
    f.square_scale = static_cast<float>(1 / std::sqrt(correction2));
    HWY_DYNAMIC_DISPATCH(adamw_block)
    (f, block.count, p.value + block.first, p.gradient + block.first, p.mean + block.first,
     p.square + block.first);
  });
}

double gradient_norm(std::span<const GradientPart> gradients) {
  const std::vector<Block> blocks = blocks_of(gradients);
  std::vector<double> sums(blocks.size());
  parallel_for(blocks.size(), [&](std::size_t b) {
    const Block& block = blocks[b];
    sums[b] =
        HWY_DYNAMIC_DISPATCH(square_sum)(block.count, gradients[block.part].data + block.first);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

}  // namespace shellgame
#endif  // HWY_ONCE
