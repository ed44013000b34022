#include "shellgame/models/exact_weights.h"

#include <cmath>
#include <numeric>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr int kConvolution = 4;  // taps; the last is the current token
// A gate's argument where a rule holds. Where it does not, SiLU gives exactly 0 in float.
constexpr double kHolds = 128;

}  // namespace

std::vector<int> Channels::many(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), count_);
  count_ += count;
  return result;
}

Terms each(const std::vector<int>& channels, double weight) {
  Terms terms;
  for (const int channel : channels) terms.push_back({channel, weight});
  return terms;
}

Terms operator+(Terms left, const Terms& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Rule all_of(const Terms& inputs, const Terms& outputs) {
  double sum = 0;
  for (const Term& term : inputs) sum += std::max(term.weight, 0.0);
  return {inputs, sum - 0.5, 0.5, outputs};
}

double norm_gain(int width, double active) { return std::sqrt(width / active); }

HandWritten::HandWritten(int width, int intermediate, int vocabulary)
    : width_(width), intermediate_(intermediate) {
  add("model.embeddings.weight", {vocabulary, width});
  add("model.norm.weight", {width}, 1);
  add("lm_head.weight", {vocabulary, width});
}

void HandWritten::add(const std::string& name, Shape shape, double value) {
  const auto count = static_cast<std::size_t>(element_count(shape).value());
  places_[name] = tensors_.size();
  tensors_.push_back({name, std::move(shape), std::vector<double>(count, value)});
}

void HandWritten::add_convolution(const std::string& name, int channels) {
  add(name, {channels, 1, kConvolution});
  const Matrix taps = matrix(name);
  for (int c = 0; c < channels; ++c) taps(c, kConvolution - 1) = 1;
}

void HandWritten::begin_layer() {
  add(fmt::format("model.layers.{}.attn_norm.weight", layers_), {width_}, 1);
}

void HandWritten::end_layer() {
  const std::string mlp = fmt::format("model.layers.{}.mlp", layers_);
  add(mlp + "_norm.weight", {width_}, 1);
  add(mlp + ".gate_proj.weight", {intermediate_, width_});
  add(mlp + ".up_proj.weight", {intermediate_, width_});
  add(mlp + ".down_proj.weight", {width_, intermediate_});
  ++layers_;
}

void HandWritten::add_delta_net(int heads) {
  begin_layer();
  const std::string attn = fmt::format("model.layers.{}.attn.", layers_);
  for (const char* part : {"q", "k", "v"}) {
    add(attn + part + "_proj.weight", {width_, width_});
    add_convolution(attn + part + "_conv1d.weight", width_);
  }
  add(attn + "b_proj.weight", {heads, width_});
  add(attn + "o_norm.weight", {width_ / heads}, 1);
  add(attn + "o_proj.weight", {width_, width_});
  end_layer();
}

void HandWritten::add_two_sided(int rows, int columns) {
  begin_layer();
  const std::string attn = fmt::format("model.layers.{}.attn.", layers_);
  for (const char* part : {"q", "k", "v"}) {
    const int channels = *part == 'v' ? columns : rows;
    add(attn + part + "_proj.weight", {channels, width_});
    add_convolution(attn + part + "_conv1d.weight", channels);
  }
  add(attn + "b_proj.weight", {1, width_});
  add(attn + "l_proj.weight", {rows, width_});
  add(attn + "l_proj.bias", {rows}, kSaturated);  // gates stay open unless told
  add(attn + "r_proj.weight", {columns, width_});
  add(attn + "r_proj.bias", {columns}, kSaturated);
  add(attn + "o_proj.weight", {width_, columns});
  end_layer();
}

Matrix HandWritten::matrix(const std::string& name) {
  const auto found = places_.find(name);
  if (found == places_.end()) fail("a hand-written model must have a tensor {}", name);
  ExactTensor& tensor = tensors_[found->second];
  return {tensor.values.data(), tensor.shape.back()};
}

Matrix HandWritten::matrix(int layer, const std::string& name) {
  return matrix(fmt::format("model.layers.{}.{}", layer, name));
}

void HandWritten::write_rules(int layer, const std::vector<Rule>& rules, double active) {
  if (rules.size() > static_cast<std::size_t>(intermediate_))
    fail("a SwiGLU of {} units must hold {} rules", intermediate_, rules.size());
  const Matrix gate = matrix(layer, "mlp.gate_proj.weight");
  const Matrix up = matrix(layer, "mlp.up_proj.weight");
  const Matrix down = matrix(layer, "mlp.down_proj.weight");
  const double gain = norm_gain(width_, active);
  for (int i = 0; i < static_cast<int>(rules.size()); ++i) {
    const Rule& rule = rules[static_cast<std::size_t>(i)];
    const double scale = kHolds / (rule.margin * gain);
    for (const Term& term : rule.inputs) gate(i, term.channel) += term.weight * scale;
    gate(i, 0) -= rule.threshold * scale;  // channel 0 holds 1 at every token
    up(i, 0) = 1;
    for (const Term& term : rule.outputs)
      down(term.channel, i) += term.weight * kOne / (kHolds * gain);
  }
}

std::vector<ExactTensor> HandWritten::finish() { return std::move(tensors_); }

}  // namespace shellgame
