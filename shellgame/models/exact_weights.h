// The tools for writing weights by hand: named tensors that start at zero (norms at one,
// convolutions passing the current token through), channels of the residual stream by name, and
// SwiGLU units as rules "if the weighted sum of these channels passes a threshold, write there".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shellgame/models/exact.h"

namespace shellgame {

// What stands for 1 in the residual stream: so large that the norms' eps is nothing beside it.
inline constexpr double kOne = 16;
// Projections before an activation or a norm; after RMSNorm a channel that holds 1 is about 3, so
// keys and values reach some hundreds: SiLU is the identity there and the l2 norm's eps is nothing.
inline constexpr double kStrong = 256;
// Queries of the second layer: weak, so that the l2 norm does not lift what rounding leaves where
// nothing is asked.
inline constexpr double kWeak = 1;
// Logits of beta and of gates: sigmoid is exactly 0 or 1 there, in double too.
inline constexpr double kSaturated = 1024;

// Numbers the channels of the residual stream one after the other.
class Channels {
 public:
  int one() { return count_++; }
  std::vector<int> many(int count);
  int count() const { return count_; }

 private:
  int count_ = 0;
};

struct Term {
  int channel;
  double weight;
};
using Terms = std::vector<Term>;
Terms each(const std::vector<int>& channels, double weight = 1);
Terms operator+(Terms left, const Terms& right);

// One SwiGLU unit: where `inputs` (in units of kOne) pass `threshold`, which they do by `margin` if
// the rule holds, and miss by as much or more if not, it adds `outputs` (in units of kOne).
struct Rule {
  Terms inputs;
  double threshold;
  double margin;
  Terms outputs;
};

// A rule that needs all of some channels that hold 0 or 1 each.
Rule all_of(const Terms& inputs, const Terms& outputs);

struct Matrix {
  double* values;
  std::int64_t columns;
  double& operator()(int row, int column) const { return values[row * columns + column]; }
};

class HandWritten {
 public:
  HandWritten(int width, int intermediate, int vocabulary);

  int width() const { return width_; }
  // DeltaNet's tensors for the next layer, or the two-sided mixer's. Layers are complete.
  void add_delta_net(int heads);
  void add_two_sided(int rows, int columns);

  Matrix matrix(const std::string& name);
  // A tensor of layer `layer`, e.g. "attn.q_proj.weight".
  Matrix matrix(int layer, const std::string& name);
  // The rules of a layer, whose input has `active` channels that hold 1, all others 0.
  void write_rules(int layer, const std::vector<Rule>& rules, double active);

  std::vector<ExactTensor> finish();

 private:
  void add(const std::string& name, Shape shape, double value = 0);
  void begin_layer();
  void add_convolution(const std::string& name, int channels);
  void end_layer();

  int width_, intermediate_, layers_ = 0;
  std::vector<ExactTensor> tensors_;
  std::map<std::string, std::size_t> places_;
};

// RMSNorm multiplies by this over kOne where `active` channels hold 1.
double norm_gain(int width, double active);

}  // namespace shellgame
