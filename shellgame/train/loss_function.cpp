#include "shellgame/train/loss_function.h"

#include <fmt/ranges.h>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::map<std::string, LossComputation>& loss_computations() {
  static std::map<std::string, LossComputation> all = [] {
    const auto own = built_in_loss_computations();
    return std::map<std::string, LossComputation>(own.begin(), own.end());
  }();
  return all;
}

}  // namespace

Loss plain_cross_entropy(const LossHead& head, const LossTargets& targets, const LossSettings&) {
  return cross_entropy(head, targets);
}

LossFunction loss_function(const LossChoice& choice) {
  const auto found = loss_computations().find(choice.name);
  if (found == loss_computations().end())
    wrong_use("a loss must be one of {}, not '{}'", fmt::join(loss_names(), ", "), choice.name);
  return [compute = found->second, settings = choice.settings](const LossHead& head,
                                                               const LossTargets& targets) {
    return compute(head, targets, settings);
  };
}

void register_loss(const LossDeclaration& declaration, LossComputation computation) {
  declare_loss(declaration);
  loss_computations().emplace(declaration.name, computation);
}

}  // namespace shellgame
