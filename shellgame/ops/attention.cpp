#include "shellgame/ops/attention.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace shellgame {
namespace {

constexpr std::int64_t kQueryBlock = 256;

}  // namespace

at::Tensor rotate(const at::Tensor& x, double theta, std::int64_t offset) {
  const std::int64_t time = x.size(1), width = x.size(3), half = width / 2;
  // Angles in double: positions may be large.
  const auto doubles = x.options().dtype(at::kDouble);
  const at::Tensor rates =
      at::pow(theta, at::arange(half, doubles) * (-2.0 / static_cast<double>(width)));
  const at::Tensor angles = at::arange(offset, offset + time, doubles).unsqueeze(-1) * rates;
  const at::Tensor cosine = angles.cos().to(x.scalar_type()).unsqueeze(1);  // [T, 1, K / 2]
  const at::Tensor sine = angles.sin().to(x.scalar_type()).unsqueeze(1);
  const at::Tensor low = x.narrow(-1, 0, half), high = x.narrow(-1, half, half);
  return at::cat({low * cosine - high * sine, high * cosine + low * sine}, -1);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                     std::int64_t window) {
  const std::int64_t time = q.size(1), heads = q.size(2), sources = k.size(1);
  const std::int64_t groups = k.size(2), past = sources - time;
  const auto spread = [&](const at::Tensor& x) {  // [B, H, S, X]
    at::Tensor y = x.transpose(1, 2);
    return groups == heads ? y : y.repeat_interleave(heads / groups, 1);
  };
  const at::Tensor queries = q.transpose(1, 2) * scale, keys = spread(k), values = spread(v);
  std::vector<at::Tensor> outputs;
  for (std::int64_t from = 0; from < time; from += kQueryBlock) {
    const std::int64_t size = std::min(kQueryBlock, time - from);
    const std::int64_t last = past + from + size;  // keys before this one
    const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, past + from - window + 1) : 0;
    const auto seen = [&](const at::Tensor& x) { return x.narrow(2, first, last - first); };
    const auto longs = q.options().dtype(at::kLong);
    const at::Tensor at_query = at::arange(past + from, last, longs).unsqueeze(-1);
    const at::Tensor at_key = at::arange(first, last, longs);
    at::Tensor hidden = at_key > at_query;
    if (window > 0) hidden = hidden.logical_or(at_key <= at_query - window);
    const at::Tensor scores =
        at::matmul(queries.narrow(2, from, size), seen(keys).transpose(-1, -2))
            .masked_fill(hidden, -std::numeric_limits<double>::infinity());
    outputs.push_back(at::matmul(scores.softmax(-1), seen(values)));
  }
  return at::cat(outputs, 2).transpose(1, 2);
}

}  // namespace shellgame
