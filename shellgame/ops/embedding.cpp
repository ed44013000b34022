#include "shellgame/ops/embedding.h"

#include <ATen/Functions.h>

#include "shellgame/kernels/row_ops.h"
#include "shellgame/ops/engine.h"
#include "shellgame/ops/kernel_function.h"
#include "shellgame/ops/rows.h"
#include "shellgame/ops/timing.h"

namespace shellgame {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct EmbeddingOp : KernelFunction<EmbeddingOp> {
  static constexpr const char* kName = "the embedding";

  static at::Tensor forward(AutogradContext* context, const at::Tensor& table,
                            const at::Tensor& ids) {
    context->save_for_backward({ids.contiguous()});
    context->saved_data["shape"] = table.sizes().vec();
    return at::embedding(table, ids);
  }

  static variable_list gradients(AutogradContext* context, variable_list upstream) {
    const PartTimer timer("embedding, backward");
    const at::Tensor ids = context->get_saved_variables()[0];
    const at::Tensor dy = even_rows(upstream[0]);
    at::Tensor d_table = at::empty(context->saved_data["shape"].toIntVector(), dy.options());
    embedding_gradient(ids.numel(), d_table.size(1), d_table.size(0), ids.data_ptr<std::int64_t>(),
                       const_rows(dy), mutable_numbers(d_table));
    return {d_table, at::Tensor()};
  }
};

}  // namespace

at::Tensor embedding_rows(const at::Tensor& table, const at::Tensor& ids) {
  return kernels_fit({table}) ? EmbeddingOp::apply(table, ids) : at::embedding(table, ids);
}

}  // namespace shellgame
