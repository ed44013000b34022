// Each operation's kernel against its composed twin in LibTorch operations, forward and backward,
// at the shapes of the training steps.
#include <ATen/Functions.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include "shellgame/ops/attention.h"
#include "shellgame/ops/cells.h"
#include "shellgame/ops/delta_rule.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/linear.h"
#include "shellgame/ops/loss.h"
#include "shellgame/ops/norm.h"
#include "shellgame/system/messages.h"
#include "shellgame/tool/bench_model.h"

namespace shellgame {
namespace {

// Forward, and the gradients of all inputs for a given upstream gradient.
struct Timed {
  std::string name, shape;
  double flop = 0;  // 0: not counted
  std::vector<at::Tensor> inputs;
  std::function<at::Tensor(const std::vector<at::Tensor>&)> forward;
};

BenchJson compare(const Timed& timed, int rounds) {
  const at::Tensor upstream = at::ones_like(timed.forward(timed.inputs).detach());
  const auto once = [&](Engine engine) {
    const EngineScope scope(engine);
    const at::Tensor y = timed.forward(timed.inputs);
    torch::autograd::grad({y}, timed.inputs, {upstream});
  };
  GemmPeak peak;
  const std::vector<double> times =
      take_turns(rounds, {[&] { once(Engine::kKernels); }, [&] { once(Engine::kComposed); },
                          [&] { peak = measure_gemm_peak(); }});
  BenchJson result = {{"operation", timed.name},
                      {"shape", timed.shape},
                      {"seconds", times[0]},
                      {"composed_seconds", times[1]},
                      {"speed_against_composed", times[1] / times[0]},
                      {"gemm_peak_gflops", peak.best() * 1e-9}};
  if (timed.flop > 0) {
    result["gflops"] = timed.flop / times[0] * 1e-9;
    result["share_of_peak"] = timed.flop / times[0] / peak.best();
  }
  say("bench: {} {}: {:.2f} ms, {:.1f} x composed{}", timed.name, timed.shape, times[0] * 1e3,
      times[1] / times[0],
      timed.flop > 0 ? fmt::format(", {:.1f} % of peak", 100 * timed.flop / times[0] / peak.best())
                     : "");
  return result;
}

at::Tensor normal(std::vector<std::int64_t> shape, double scale = 1) {
  return (at::randn(shape) * scale).requires_grad_();
}

Timed delta(std::int64_t batch, std::int64_t time, std::int64_t heads, std::int64_t width) {
  const auto unit = [&] {
    return l2_norm(at::randn({batch, time, heads, width})).requires_grad_();
  };
  return {.name = "delta_rule",
          .shape = fmt::format("B {} T {} H {} K=V {}", batch, time, heads, width),
          .flop = 22.0 * static_cast<double>(width * width * batch * time * heads),
          .inputs = {unit(), unit(), normal({batch, time, heads, width}),
                     (2 * at::rand({batch, time, heads})).requires_grad_()},
          .forward = [](const std::vector<at::Tensor>& x) {
            DeltaInputs inputs;
            inputs.q = x[0];
            inputs.k = x[1];
            inputs.v = x[2];
            inputs.beta = x[3];
            inputs.scale = 0.2;
            return delta_rule(inputs).output;
          }};
}

struct RowSizes {
  std::int64_t rows, width, hidden, out;
};

Timed projections(const RowSizes& s) {
  return {.name = "norm_linear",
          .shape = fmt::format("{} x {} to {}", s.rows, s.width, s.out),
          .flop = 6.0 * static_cast<double>(s.rows * s.width * s.out),
          .inputs = {normal({s.rows, s.width}), normal({s.width}), normal({s.out, s.width}, 0.1)},
          .forward = [](const std::vector<at::Tensor>& x) {
            return norm_linear(x[0], x[1], 1e-6, {x[2]}).y;
          }};
}

Timed channel_mixer(const RowSizes& s) {
  return {.name = "swiglu_mlp",
          .shape = fmt::format("{} x {} by {}", s.rows, s.width, s.hidden),
          .flop = 18.0 * static_cast<double>(s.rows * s.width * s.hidden),
          .inputs = {normal({s.rows, s.width}), normal({s.width}), normal({s.hidden, s.width}, 0.1),
                     normal({s.hidden, s.width}, 0.1), normal({s.width, s.hidden}, 0.1)},
          .forward = [](const std::vector<at::Tensor>& x) {
            return swiglu_mlp(x[0], x[1], 1e-6, x[2], x[3], x[4]);
          }};
}

Timed output_projection(std::int64_t rows, std::int64_t in, std::int64_t width) {
  return {.name = "linear_add",
          .shape = fmt::format("{} x {} to {}", rows, in, width),
          .flop = 6.0 * static_cast<double>(rows * in * width),
          .inputs = {normal({rows, width}), normal({rows, in}), normal({width, in}, 0.1)},
          .forward = [](const std::vector<at::Tensor>& x) { return linear_add(x[0], x[1], x[2]); }};
}

// What lies around the recurrence in the mixers that have no fused core: Gated DeltaNet and its
// like, attention.
struct HeadShape {
  std::int64_t batch, time, heads, width;
  std::vector<std::int64_t> shape() const { return {batch, time, heads, width}; }
  std::string text() const { return fmt::format("B {} T {} H {} X {}", batch, time, heads, width); }
};

std::vector<Timed> around_the_recurrence(const HeadShape& s) {
  return {{.name = "l2_norm",
           .shape = s.text(),
           .inputs = {normal(s.shape())},
           .forward = [](const std::vector<at::Tensor>& x) { return l2_norm(x[0]); }},
          {.name = "gated_norm",
           .shape = s.text(),
           .inputs = {normal(s.shape()), normal({s.width}), normal(s.shape())},
           .forward =
               [](const std::vector<at::Tensor>& x) {
                 return gated_norm(x[0], x[1], 1e-6, x[2], "silu");
               }},
          {.name = "rope",
           .shape = s.text(),
           .inputs = {normal(s.shape())},
           .forward = [](const std::vector<at::Tensor>& x) { return rotate(x[0], 10000, 0); }}};
}

struct HeadCounts {
  std::int64_t queries, keys;
};

// The whole layer, since Torch's own LSTM and GRU, the twins here, take the input's weights too.
Timed gated_cell(bool is_gru, std::int64_t batch, std::int64_t time, std::int64_t width) {
  const std::int64_t gates = is_gru ? 3 : 4;
  const auto forward = [is_gru](const std::vector<at::Tensor>& x) {
    if (engine() == Engine::kKernels) {
      const at::Tensor raw = at::linear(x[0], x[1], is_gru ? x[3] : x[3] + x[4]);
      return (is_gru ? gru(raw, x[2], x[4], {}) : lstm(raw, x[2], {})).output;
    }
    const std::vector<at::Tensor> weights = {x[1], x[2], x[3], x[4]};
    const at::Tensor zero = at::zeros({1, x[0].size(0), x[2].size(1)});
    if (is_gru) return std::get<0>(at::gru(x[0], zero, weights, true, 1, 0, true, false, true));
    return std::get<0>(at::lstm(x[0], {zero, zero}, weights, true, 1, 0, true, false, true));
  };
  return {.name = is_gru ? "gru" : "lstm",
          .shape = fmt::format("B {} T {} D {}", batch, time, width),
          .flop = 12.0 * static_cast<double>(batch * time * gates * width * width),
          .inputs = {normal({batch, time, width}), normal({gates * width, width}, 0.1),
                     normal({gates * width, width}, 0.1), normal({gates * width}, 0.1),
                     normal({gates * width}, 0.1)},
          .forward = forward};
}

// Its work: two products forward and five backward, of the pairs that a causal mask lets through.
Timed softmax_attention(std::int64_t batch, std::int64_t time, const HeadCounts& heads,
                        std::int64_t width) {
  const double pairs = static_cast<double>(time) * static_cast<double>(time + 1) / 2;
  return {.name = "attention",
          .shape = fmt::format("B {} T {} H {} G {} K=V {}", batch, time, heads.queries, heads.keys,
                               width),
          .flop = 14.0 * static_cast<double>(batch * heads.queries * width) * pairs,
          .inputs = {normal({batch, time, heads.queries, width}),
                     normal({batch, time, heads.keys, width}),
                     normal({batch, time, heads.keys, width})},
          .forward = [width](const std::vector<at::Tensor>& x) {
            return attention(x[0], x[1], x[2], 1 / std::sqrt(static_cast<double>(width)), 0);
          }};
}

Timed scalar_memory(std::int64_t batch, std::int64_t time, std::int64_t heads, std::int64_t width) {
  return {.name = "slstm",
          .shape = fmt::format("B {} T {} H {} X {}", batch, time, heads, width),
          .flop = 24.0 * static_cast<double>(batch * time * heads * width * width),
          .inputs = {normal({batch, time, 4, heads, width}), normal({heads, 4 * width, width}, 0.1),
                     normal({4, heads, width}, 0.1)},
          .forward = [](const std::vector<at::Tensor>& x) {
            return slstm(x[0], x[1], x[2], {}).output;
          }};
}

Timed head(std::int64_t rows, std::int64_t width, std::int64_t vocabulary) {
  const at::Tensor targets = at::randint(vocabulary, {rows}, at::kLong);
  return {.name = "head_loss",
          .shape = fmt::format("{} x {} to {}", rows, width, vocabulary),
          .flop = 6.0 * static_cast<double>(rows * width * vocabulary),
          .inputs = {normal({rows, width}), normal({width}), normal({vocabulary, width}, 0.1)},
          .forward = [targets](const std::vector<at::Tensor>& x) {
            return token_loss(x[0], x[1], 1e-6, x[2], targets, false).mean;
          }};
}

}  // namespace

BenchJson bench_kernels(const std::vector<std::string>& operations, int rounds) {
  std::vector<Timed> all;
  for (const auto& [batch, time, heads, width] : {std::array<std::int64_t, 4>{32, 1465, 2, 16},
                                                  {32, 1465, 2, 32},
                                                  {64, 200, 4, 32},
                                                  {16, 512, 8, 32},
                                                  {8, 1465, 4, 64},
                                                  {4, 1465, 8, 128}}) {
    all.push_back(delta(batch, time, heads, width));
  }
  for (const RowSizes& sizes : {RowSizes{46880, 64, 160, 194},
                                {12800, 128, 512, 388},
                                {8192, 256, 768, 776},
                                {5860, 512, 1536, 3080}}) {
    all.push_back(projections(sizes));
    all.push_back(output_projection(sizes.rows, sizes.width, sizes.width));
    all.push_back(channel_mixer(sizes));
  }
  all.push_back(output_projection(5860, 1024, 512));
  for (const HeadShape& shape : {HeadShape{32, 1465, 2, 32}, {64, 200, 4, 32}, {4, 1465, 8, 128}}) {
    for (Timed& timed : around_the_recurrence(shape)) all.push_back(std::move(timed));
  }
  for (const auto& [batch, time, width] :
       {std::array<std::int64_t, 3>{8, 1465, 64}, {64, 200, 128}}) {
    all.push_back(gated_cell(false, batch, time, width));
    all.push_back(gated_cell(true, batch, time, width));
    all.push_back(scalar_memory(batch, time, 2, width / 2));
  }
  all.push_back(softmax_attention(8, 1465, {2, 2}, 32));
  all.push_back(softmax_attention(16, 500, {2, 2}, 32));
  all.push_back(softmax_attention(32, 60, {2, 2}, 32));
  all.push_back(softmax_attention(4, 1465, {8, 8}, 64));
  all.push_back(softmax_attention(4, 512, {8, 2}, 128));
  all.push_back(head(46880, 64, 90));
  all.push_back(head(512, 512, 151936));
  BenchJson list = BenchJson::array();
  for (const Timed& timed : all) {
    const bool wanted =
        operations.empty() || std::ranges::find(operations, timed.name) != operations.end();
    if (wanted) list.push_back(compare(timed, rounds));
  }
  return list;
}

}  // namespace shellgame
