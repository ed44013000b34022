#include "shellgame/train/loss_function.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "../system/scratch.h"
#include "shellgame/models/model.h"
#include "shellgame/text/error.h"
#include "shellgame/train/segment_gradient.h"
#include "shellgame/train/trainer.h"
#include "small_experiment.h"

namespace shellgame {
namespace {

// A loss of another form than cross entropy: the target's logit must be larger than all others by a
// margin, and values count `weight` times.
Loss margin_loss(const LossHead& head, const LossTargets& targets, const LossSettings& settings) {
  const at::Tensor hard = targets.hard.flatten();
  const at::Tensor places = (hard >= 0).nonzero().squeeze(-1);
  Loss loss{.counted = places.numel(), .correct = at::zeros_like(targets.hard, at::kBool)};
  const at::Tensor logits = head.logits(places);
  if (loss.counted == 0) {
    loss.mean = logits.sum();
    return loss;
  }
  const at::Tensor truths = hard.index_select(0, places).unsqueeze(-1);
  const at::Tensor own = logits.gather(-1, truths).squeeze(-1);
  const at::Tensor others = logits.scatter(-1, truths, -1e9).amax(-1);
  const at::Tensor marked = targets.values.flatten().index_select(0, places);
  const at::Tensor weights = at::where(marked, settings.at("weight"), 1.0).to(own.scalar_type());
  loss.mean = ((settings.at("margin") - (own - others)).clamp_min(0) * weights).mean();
  loss.correct.view({-1}).index_put_({places}, (own > others).detach());
  return loss;
}

const LossDeclaration& margin_declaration() {
  static const LossDeclaration declaration = [] {
    LossDeclaration one{.name = "margin",
                        .asks = {.marks = true},
                        .keys = {{"margin", 1, NumberBounds::real(0, 100)},
                                 {"weight", 1, NumberBounds::real(0, 100)}}};
    register_loss(one, margin_loss);
    return one;
  }();
  return declaration;
}

TEST(LossFunction, EveryLossIsComputed) {
  for (const std::string& name : loss_names()) EXPECT_TRUE(loss_function({.name = name})) << name;
  EXPECT_EQ(built_in_losses().size(), built_in_loss_computations().size());
  EXPECT_THROW(loss_function({.name = "no such"}), UsageError);
  EXPECT_EQ(find_loss("no such"), nullptr);
}

TEST(LossFunction, OneOfAnotherFormIsAKeyAndTrains) {
  margin_declaration();
  EXPECT_THROW(register_loss({.name = "margin"}, margin_loss), UsageError);
  const std::vector<std::string> changes = {"stages.0.steps=200", "stages.0.batch=32",
                                            "checkpoint.every=0", "optimiser.learning-rate=1e-2"};
  const auto with = [&](const std::string& loss) {
    std::vector<std::string> all = changes;
    all.push_back(loss);
    Experiment e = small_experiment(all);
    e.stages.resize(1);
    return e;
  };
  EXPECT_THROW(with("loss={name=\"margin\",margin=101}"), InputError);
  EXPECT_THROW(with("loss={name=\"margin\",size=1}"), InputError);
  EXPECT_THROW(with("loss={name=\"all\",margin=1}"), InputError);
  EXPECT_EQ(with("loss=margin").loss.settings, (LossSettings{{"margin", 1}, {"weight", 1}}));
  const Experiment e = with("loss={name=\"margin\",margin=2,weight=10}");
  EXPECT_EQ(parse_experiment(e.toml(), "again.toml").loss.settings,
            (LossSettings{{"margin", 2}, {"weight", 10}}));
  const ScratchFolder folder;
  const TrainResult result = train({.experiment = e, .run = folder / "run", .quiet = true});
  EXPECT_GT(result.accuracy, 0.5);  // 1/3 by chance
}

// What it asks for comes in pieces, too: its marks of values are cut as its targets are.
TEST(LossFunction, OneOfAnotherFormHasTheGradientOfTheWholeInPieces) {
  const LossFunction margin = [](const LossHead& head, const LossTargets& targets) {
    return margin_loss(head, targets, {{"margin", 1}, {"weight", 3}});
  };
  const Model model(ModelConfig({{"model_type", "delta_net"},
                                 {"hidden_size", 16},
                                 {"num_heads", 2},
                                 {"num_hidden_layers", 2},
                                 {"intermediate_size", 24},
                                 {"vocab_size", 19},
                                 {"initializer_range", 0.3}}));
  const at::Tensor ids = (at::arange(600).view({2, 300}).to(at::kLong) * 7 + 3) % 19;
  const LossTargets targets(at::where(ids % 3 == 0, (ids + 1) % 19, -100), {}, ids % 2 == 0);
  const auto taken = [&](std::int64_t pieces) {
    const SegmentLoss loss = add_segment_gradient(model, ids, targets, pieces, 1, nullptr, margin);
    std::vector<at::Tensor> all = {at::tensor(loss.mean)};
    for (const Parameter& parameter : model.parameters()) {
      at::Tensor value = parameter.value;
      all.push_back(value.grad().clone().to(at::kDouble));
      value.mutable_grad() = at::Tensor();
    }
    return all;
  };
  const auto whole = taken(1), pieces = taken(4);
  double size = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const double one = whole[i].norm().item<double>();
    EXPECT_LT((whole[i] - pieces[i]).norm().item<double>(), 1e-4 * (one + 1e-4));
    size += one;
  }
  EXPECT_GT(size, 1e-2);
}

}  // namespace
}  // namespace shellgame
