#include "shellgame/ops/delta_net_core.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "shellgame/kernels/delta_net_core.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The tensors of an input, in the order of the operation's arguments.
enum Part : std::size_t {
  kProjections,
  kQConv,
  kKConv,
  kVConv,
  kNorm,
  kStart,
  kQState,
  kKState,
  kVState,
  kParts
};

// What is not a tensor; Torch keeps it for the backward pass as a list of numbers.
struct Fixed {
  std::int64_t heads, key_width, value_width, beta, gate, activation, norm;
  double beta_range, eps;
};

DeltaSizes sizes_of(const variable_list& parts, const Fixed& fixed) {
  return {.B = static_cast<std::size_t>(parts[kProjections].size(0)),
          .T = static_cast<std::size_t>(parts[kProjections].size(1)),
          .H = static_cast<std::size_t>(fixed.heads),
          .K = static_cast<std::size_t>(fixed.key_width),
          .V = static_cast<std::size_t>(fixed.value_width)};
}

// The slices of a row of projections.
template <class Real>
struct Slices {
  Slices(Real* data, std::size_t stride, const Fixed& fixed) {
    const auto keys = fixed.heads * fixed.key_width, values = fixed.heads * fixed.value_width;
    q = {data, stride};
    k = {data + keys, stride};
    v = {data + 2 * keys, stride};
    Real* next = data + 2 * keys + values;
    if (fixed.beta) {
      beta = {next, stride};
      next += fixed.heads;
    }
    if (fixed.gate) gate = {next, stride};
  }
  RowView<Real> q, k, v, beta, gate;
};

DeltaNetCoreInput<float> input_of(const variable_list& parts, const Fixed& fixed) {
  const RowView<const float> rows{numbers(parts[kProjections]),
                                  static_cast<std::size_t>(parts[kProjections].size(2))};
  const Slices<const float> slices(rows.data, rows.stride, fixed);
  DeltaNetCoreInput<float> input;
  input.q = slices.q;
  input.k = slices.k;
  input.v = slices.v;
  input.beta = slices.beta;
  input.gate = slices.gate;
  if (parts[kQConv].defined()) input.W = static_cast<std::size_t>(parts[kQConv].size(2));
  input.q_conv = numbers(parts[kQConv]);
  input.k_conv = numbers(parts[kKConv]);
  input.v_conv = numbers(parts[kVConv]);
  input.q_state = numbers(parts[kQState]);
  input.k_state = numbers(parts[kKState]);
  input.v_state = numbers(parts[kVState]);
  input.h0 = numbers(parts[kStart]);
  input.norm_weight = numbers(parts[kNorm]);
  input.norm_eps = static_cast<float>(fixed.eps);
  input.scale = 1 / std::sqrt(static_cast<float>(fixed.key_width));
  input.beta_scale = static_cast<float>(fixed.beta_range);
  input.qk_activation = static_cast<QkActivation>(fixed.activation);
  input.qk_norm = static_cast<QkNorm>(fixed.norm);
  return input;
}

struct DeltaNetCoreOp : KernelFunction<DeltaNetCoreOp> {
  static constexpr const char* kName = "the core of DeltaNet";

  static variable_list forward(AutogradContext* context, const at::Tensor& projections,
                               const MaybeTensor& q_conv, const MaybeTensor& k_conv,
                               const MaybeTensor& v_conv, const at::Tensor& norm,
                               const MaybeTensor& start, const MaybeTensor& q_state,
                               const MaybeTensor& k_state, const MaybeTensor& v_state,
                               std::vector<std::int64_t> words, double beta_range, double eps,
                               bool remember, bool keep) {
    const PartTimer timer("DeltaNet core, forward");
    const Fixed fixed{words[0], words[1], words[2],   words[3], words[4],
                      words[5], words[6], beta_range, eps};
    variable_list parts = {projections.contiguous()};
    for (const MaybeTensor* part : {&q_conv, &k_conv, &v_conv}) parts.push_back(whole(*part));
    parts.push_back(norm);
    for (const MaybeTensor* part : {&start, &q_state, &k_state, &v_state}) {
      parts.push_back(whole(*part));
    }
    const DeltaSizes sizes = sizes_of(parts, fixed);
    const DeltaNetCoreInput<float> input = input_of(parts, fixed);
    const auto options = projections.options();
    const std::int64_t batch = projections.size(0);
    at::Tensor o =
        at::empty({batch, projections.size(1), fixed.heads * fixed.value_width}, options);
    DeltaNetCoreOutput<float> output;
    output.o = {mutable_numbers(o), static_cast<std::size_t>(o.size(2))};
    variable_list results = {o};
    if (remember) {
      at::Tensor state =
          at::empty({batch, fixed.heads, fixed.key_width, fixed.value_width}, options);
      output.ht = mutable_numbers(state);
      results.push_back(state);
      if (input.W > 0) {
        const auto width = static_cast<std::int64_t>(input.W);
        const std::int64_t keys = fixed.heads * fixed.key_width;
        for (const std::int64_t channels : {keys, keys, fixed.heads * fixed.value_width}) {
          results.push_back(at::empty({batch, channels, width}, options));
        }
        output.q_state = mutable_numbers(results[2]);
        output.k_state = mutable_numbers(results[3]);
        output.v_state = mutable_numbers(results[4]);
      }
    }
    at::Tensor saved;
    if (keep) {
      saved = at::empty({static_cast<std::int64_t>(delta_net_core_saved_size(sizes))}, options);
    }
    delta_net_core_forward(sizes, input, output, mutable_numbers(saved));
    parts.push_back(saved);
    context->save_for_backward(parts);
    context->saved_data["words"] = words;
    context->saved_data["beta_range"] = beta_range;
    context->saved_data["eps"] = eps;
    return results;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("DeltaNet core, backward");
    const variable_list parts = context->get_saved_variables();
    const std::vector<std::int64_t> words = context->saved_data["words"].toIntVector();
    const Fixed fixed{words[0],
                      words[1],
                      words[2],
                      words[3],
                      words[4],
                      words[5],
                      words[6],
                      context->saved_data["beta_range"].toDouble(),
                      context->saved_data["eps"].toDouble()};
    variable_list result(kParts + 5);
    WantedGradients wanted(context);
    const bool wants_projections = wanted.next();
    result[kProjections] = at::empty(parts[kProjections].sizes(), parts[kProjections].options());
    for (std::size_t i = kProjections + 1; i < kParts; ++i) result[i] = wanted.next_like(parts[i]);
    for (at::Tensor& gradient : upstream) {
      if (gradient.defined()) gradient = gradient.contiguous();
    }
    const Slices<float> slices(mutable_numbers(result[kProjections]),
                               static_cast<std::size_t>(parts[kProjections].size(2)), fixed);
    DeltaNetCoreGradients<float> gradients;
    gradients.d_o = {numbers(upstream[0]), static_cast<std::size_t>(upstream[0].size(2))};
    if (upstream.size() > 1) gradients.dht = numbers(upstream[1]);
    if (upstream.size() > 2) {
      gradients.dq_state_out = numbers(upstream[2]);
      gradients.dk_state_out = numbers(upstream[3]);
      gradients.dv_state_out = numbers(upstream[4]);
    }
    gradients.dq = slices.q;
    gradients.dk = slices.k;
    gradients.dv = slices.v;
    gradients.dbeta = slices.beta;
    gradients.dgate = slices.gate;
    gradients.dq_conv = mutable_numbers(result[kQConv]);
    gradients.dk_conv = mutable_numbers(result[kKConv]);
    gradients.dv_conv = mutable_numbers(result[kVConv]);
    gradients.dq_state = mutable_numbers(result[kQState]);
    gradients.dk_state = mutable_numbers(result[kKState]);
    gradients.dv_state = mutable_numbers(result[kVState]);
    gradients.dh0 = mutable_numbers(result[kStart]);
    gradients.dnorm_weight = mutable_numbers(result[kNorm]);
    delta_net_core_backward(sizes_of(parts, fixed), input_of(parts, fixed), numbers(parts[kParts]),
                            gradients);
    if (!wants_projections) result[kProjections] = at::Tensor();
    return result;
  }

 private:
  static at::Tensor whole(const MaybeTensor& x) {
    return x.has_value() ? x->contiguous() : at::Tensor();
  }
};

std::int64_t activation_word(const std::string& name) {
  const QkActivation kind = name == "silu"       ? QkActivation::kSilu
                            : name == "identity" ? QkActivation::kIdentity
                            : name == "relu"     ? QkActivation::kRelu
                                                 : QkActivation::kElu;
  return static_cast<std::int64_t>(kind);
}

}  // namespace

at::Tensor delta_net_core(const at::Tensor& projections, const DeltaNetCore& core,
                          DeltaNetMemory* memory) {
  const DeltaNetMemory before = memory != nullptr ? *memory : DeltaNetMemory();
  const std::vector<std::int64_t> words = {
      core.heads,
      core.key_width,
      core.value_width,
      core.beta,
      core.gate,
      activation_word(core.activation),
      static_cast<std::int64_t>(core.norm == "l2" ? QkNorm::kL2 : QkNorm::kSum)};
  const variable_list results = DeltaNetCoreOp::apply(
      projections, maybe(core.q_conv), maybe(core.k_conv), maybe(core.v_conv), core.norm_weight,
      maybe(before.recurrent), maybe(before.conv_q), maybe(before.conv_k), maybe(before.conv_v),
      words, core.beta_range, core.eps, memory != nullptr, at::GradMode::is_enabled());
  if (memory != nullptr) {
    memory->recurrent = results[1];
    if (results.size() > 2) {
      memory->conv_q = results[2];
      memory->conv_k = results[3];
      memory->conv_v = results[4];
    }
  }
  return results[0];
}

}  // namespace shellgame
