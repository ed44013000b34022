#include "shellgame/ops/attention.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "shellgame/kernels/attention.h"
#include "shellgame/kernels/row_ops.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kQueryBlock = 256;

// The last table made: queries, keys and all layers of a pass ask for the same one.
std::shared_ptr<const RopeTable> rope_table(std::int64_t first, std::int64_t positions,
                                            std::int64_t width, double theta) {
  static std::mutex mutex;
  static std::shared_ptr<const RopeTable> last;
  static double last_theta = 0;
  const std::lock_guard lock(mutex);
  if (last == nullptr || last_theta != theta || last->half() != width / 2 ||
      last->first() != first || last->end() != first + positions) {
    last = std::make_shared<const RopeTable>(first, positions, width, theta);
    last_theta = theta;
  }
  return last;
}

struct RotateOp : KernelFunction<RotateOp> {
  static constexpr const char* kName = "rotary positions";

  static at::Tensor rotated(const at::Tensor& x_in, double theta, std::int64_t offset, bool back) {
    const at::Tensor x = even_heads(x_in);
    at::Tensor y = at::empty(x.sizes(), x.options());
    const auto table = rope_table(offset, x.size(1), x.size(3), theta);
    const RopeShape shape = {
        .rows = x.size(0) * x.size(1), .time = x.size(1), .heads = x.size(2), .offset = offset};
    const RowView<const float> from = head_rows(x);
    const ConstRows in = {from.data, static_cast<std::int64_t>(from.stride)};
    const Rows out = {mutable_numbers(y), x.size(2) * x.size(3)};
    if (back) {
      rope_backward(*table, shape, in, out);
    } else {
      rope(*table, shape, in, out);
    }
    return y;
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double theta,
                            std::int64_t offset) {
    const PartTimer timer("rotary positions, forward");
    context->saved_data["theta"] = theta;
    context->saved_data["offset"] = offset;
    return rotated(x, theta, offset, false);
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("rotary positions, backward");
    return {rotated(upstream[0], context->saved_data["theta"].toDouble(),
                    context->saved_data["offset"].toInt(), true),
            at::Tensor(), at::Tensor()};
  }
};

// q [B, T, H, K], k and v [B, S, G, ...] by blocks that stay in the caches.
struct AttentionOp : KernelFunction<AttentionOp> {
  static constexpr const char* kName = "attention";

  static AttentionSizes sizes_of(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 std::int64_t window) {
    const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    return {.B = size(q.size(0)),
            .T = size(q.size(1)),
            .S = size(k.size(1)),
            .H = size(q.size(2)),
            .G = size(k.size(2)),
            .K = size(q.size(3)),
            .V = size(v.size(3)),
            .window = size(window)};
  }
  static AttentionInput<float> input_of(const at::Tensor& q, const at::Tensor& k,
                                        const at::Tensor& v, double scale) {
    return {.q = head_rows(q),
            .k = head_rows(k),
            .v = head_rows(v),
            .scale = static_cast<float>(scale)};
  }

  static at::Tensor forward(AutogradContext* context, const at::Tensor& q_in,
                            const at::Tensor& k_in, const at::Tensor& v_in, double scale,
                            std::int64_t window, bool keep) {
    const PartTimer timer("attention, forward");
    const at::Tensor q = even_heads(q_in), k = even_heads(k_in), v = even_heads(v_in);
    const AttentionSizes sizes = sizes_of(q, k, v, window);
    at::Tensor o = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
    at::Tensor saved;
    if (keep) saved = at::empty({q.size(0), q.size(2), q.size(1), 2}, q.options());
    attention_forward(sizes, input_of(q, k, v, scale), mutable_head_rows(o),
                      mutable_numbers(saved));
    if (keep) {
      context->save_for_backward({q, k, v, o, saved});
      context->saved_data["scale"] = scale;
      context->saved_data["window"] = window;
    }
    return o;
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("attention, backward");
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &o = saved[3];
    const at::Tensor d_o = even_heads(upstream[0]);
    at::Tensor dq = at::empty(q.sizes(), q.options()), dk = at::empty(k.sizes(), k.options());
    at::Tensor dv = at::empty(v.sizes(), v.options());
    attention_backward(sizes_of(q, k, v, context->saved_data["window"].toInt()),
                       input_of(q, k, v, context->saved_data["scale"].toDouble()), head_rows(o),
                       numbers(saved[4]),
                       {.d_o = head_rows(d_o),
                        .dq = mutable_head_rows(dq),
                        .dk = mutable_head_rows(dk),
                        .dv = mutable_head_rows(dv)});
    // One sweep makes all three.
    WantedGradients wanted(context);
    for (at::Tensor* gradient : {&dq, &dk, &dv}) {
      if (!wanted.next()) *gradient = at::Tensor();
    }
    return {dq, dk, dv, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor rotate(const at::Tensor& x, double theta, std::int64_t offset) {
  if (x.numel() > 0 && kernels_fit({x})) return RotateOp::apply(x, theta, offset);
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
  if (q.numel() > 0 && kernels_fit({q, k, v}))
    return AttentionOp::apply(q, k, v, scale, window, at::GradMode::is_enabled());
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
