// The parameters of a model, each with the name that it has in a checkpoint, and how they start.
// A parameter's initialisation depends on the seed and its name only, so that adding one changes no
// other.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shellgame/random/philox.h"

namespace shellgame {

struct Parameter {
  std::string name;
  at::Tensor value;
  // Whether weight decay is meant for it: matrices yes, norms, biases and decay rates no.
  bool decays = true;
};

// How matrices and convolutions start: as flash-linear-attention's models do, all N(0, range), or
// as Torch's layers do, uniform within 1/sqrt(inputs), embeddings N(0, 1); or not at all, for a
// reader that fills them (drawing the paper's 236 million takes 10 s).
// kCounted: nothing is made, for who only wants to know how large a model is.
enum class InitKind { kFla, kTorch, kUnset, kCounted };

// More numbers than this are no parameter's.
inline constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 50;

struct InitOptions {
  std::uint64_t seed = 0;
  InitKind kind = InitKind::kFla;
};

// Makes the parameters of one part of a model. A copy made by inside("attn") puts "attn." before
// its names; all copies fill the same list.
class Weights {
 public:
  Weights(std::vector<Parameter>& list, InitOptions init, double range);

  Weights inside(const std::string& name) const;
  // The seeded stream that belongs to a name.
  RandomStream stream(const std::string& name) const;

  // `name`.weight [out, in].
  at::Tensor linear(const std::string& name, std::int64_t out, std::int64_t in) const;
  // `name`.weight [rows, width], N(0, range).
  at::Tensor embedding(const std::string& name, std::int64_t rows, std::int64_t width) const;
  // `name`.weight [channels, 1, width].
  at::Tensor convolution(const std::string& name, std::int64_t channels, std::int64_t width) const;
  // `name` filled with one number; does not decay.
  at::Tensor constant(const std::string& name, std::vector<std::int64_t> shape, double value) const;
  // `name` with each element drawn from its stream; does not decay unless told.
  at::Tensor drawn(const std::string& name, std::vector<std::int64_t> shape,
                   const std::function<double(RandomStream&)>& draw, bool decays = false) const;

  double range() const { return range_; }
  InitKind kind() const { return init_.kind; }

 private:
  at::Tensor add(const std::string& name, at::Tensor value, bool decays) const;

  std::vector<Parameter>* list_;
  InitOptions init_;
  double range_;
  std::string prefix_;
};

// A number from N(0, 1); from [0, 1).
double draw_normal(RandomStream& stream);
double draw_uniform(RandomStream& stream);

}  // namespace shellgame
