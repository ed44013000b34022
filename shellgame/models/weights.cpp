#include "shellgame/models/weights.h"

#include <ATen/Functions.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// FNV-1a: a name's place among the streams.
std::uint64_t hash_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace

double draw_uniform(RandomStream& stream) { return stream.unit(); }

double draw_normal(RandomStream& stream) {
  // Box and Muller; 1 - unit() is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - stream.unit()));
  return radius * std::cos(2 * std::numbers::pi * stream.unit());
}

Weights::Weights(std::vector<Parameter>& list, InitOptions init, double range)
    : list_(&list), init_(init), range_(range) {}

Weights Weights::inside(const std::string& name) const {
  Weights part = *this;
  if (!name.empty()) part.prefix_ += name + ".";
  return part;
}

RandomStream Weights::stream(const std::string& name) const {
  return RandomStream(init_.seed, hash_of(prefix_ + name), Lane::kWeights);
}

namespace {

// Of a shape, with one number in memory.
at::Tensor shape_alone(const std::string& name, const std::vector<std::int64_t>& shape) {
  std::uint64_t numbers = 1;
  for (const std::int64_t size : shape)
    numbers = saturating_multiply(numbers, static_cast<std::uint64_t>(size));
  if (numbers > kMostParameters)
    fail("the parameter '{}' of shape {} must have at most {} numbers", name,
         fmt::join(shape, " x "), kMostParameters);
  return at::zeros({1}, at::kFloat).expand(shape);
}

}  // namespace

at::Tensor Weights::add(const std::string& name, at::Tensor value, bool decays) const {
  if (init_.kind != InitKind::kCounted) value.requires_grad_();
  list_->push_back({.name = prefix_ + name, .value = value, .decays = decays});
  return value;
}

at::Tensor Weights::drawn(const std::string& name, std::vector<std::int64_t> shape,
                          const std::function<double(RandomStream&)>& draw, bool decays) const {
  if (init_.kind == InitKind::kCounted)
    return add(name, shape_alone(prefix_ + name, shape), decays);
  at::Tensor value = at::empty(shape, at::kFloat);
  if (init_.kind == InitKind::kUnset) return add(name, value, decays);
  RandomStream numbers = stream(name);
  float* out = value.data_ptr<float>();
  for (std::int64_t i = 0; i < value.numel(); ++i) out[i] = static_cast<float>(draw(numbers));
  return add(name, value, decays);
}

at::Tensor Weights::linear(const std::string& name, std::int64_t out, std::int64_t in) const {
  if (init_.kind != InitKind::kTorch) return embedding(name, out, in);
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  return drawn(
      name + ".weight", {out, in},
      [bound](RandomStream& numbers) { return bound * (2 * draw_uniform(numbers) - 1); }, true);
}

at::Tensor Weights::embedding(const std::string& name, std::int64_t rows,
                              std::int64_t width) const {
  const double scale = init_.kind == InitKind::kTorch ? 1 : range_;
  return drawn(
      name + ".weight", {rows, width},
      [scale](RandomStream& numbers) { return scale * draw_normal(numbers); }, true);
}

at::Tensor Weights::convolution(const std::string& name, std::int64_t channels,
                                std::int64_t width) const {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  return drawn(
      name + ".weight", {channels, 1, width},
      [&](RandomStream& numbers) {
        return init_.kind == InitKind::kFla ? range_ * draw_normal(numbers)
                                            : bound * (2 * draw_uniform(numbers) - 1);
      },
      true);
}

at::Tensor Weights::constant(const std::string& name, std::vector<std::int64_t> shape,
                             double value) const {
  if (init_.kind == InitKind::kCounted) return add(name, shape_alone(prefix_ + name, shape), false);
  return add(name, at::full(shape, value, at::kFloat), false);
}

}  // namespace shellgame
