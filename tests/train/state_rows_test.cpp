#include "shellgame/train/state_rows.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "../models/contract_cases.h"
#include "shellgame/models/model.h"

namespace shellgame {
namespace {

class StateRows : public testing::TestWithParam<ContractCase> {};

TEST_P(StateRows, ARestartedRowIsAtTheBeginningAndOthersGoOn) {
  const at::NoGradGuard no_gradients;
  const Model model(ModelConfig(GetParam().config));
  const at::Tensor first = at::arange(14).view({2, 7}).to(at::kLong) % 19;
  const at::Tensor second = (at::arange(10).view({2, 5}).to(at::kLong) * 3) % 19;
  ModelState state;
  model.logits(first, &state);
  if (!rows_are_apart(model)) GTEST_SKIP() << "rows share a position";
  ModelState restarted = state;
  restart_rows(model, restarted, {true, false});
  const at::Tensor together = model.logits(second, &restarted);
  ModelState fresh, going = state;
  EXPECT_LT((together[0] - model.logits(second, &fresh)[0]).abs().max().item<double>(), 1e-5);
  EXPECT_LT((together[1] - model.logits(second, &going)[1]).abs().max().item<double>(), 1e-5);
}

TEST_P(StateRows, TensorsByNameMakeTheSameState) {
  const at::NoGradGuard no_gradients;
  const Model model(ModelConfig(GetParam().config));
  const at::Tensor ids = at::arange(14).view({2, 7}).to(at::kLong) % 19;
  ModelState state;
  model.logits(ids, &state);
  ModelState again = state_from_tensors(state_tensors(state), state.tokens);
  EXPECT_TRUE(at::equal(model.logits(ids, &state), model.logits(ids, &again)));
}

INSTANTIATE_TEST_SUITE_P(Mixers, StateRows, testing::ValuesIn(contract_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace shellgame
