#include "shellgame/train/losses.h"

#include <algorithm>
#include <deque>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::deque<LossDeclaration>& declared_losses() {
  static std::deque<LossDeclaration> all = [] {
    const std::vector<LossDeclaration> own = built_in_losses();
    return std::deque<LossDeclaration>(own.begin(), own.end());
  }();
  return all;
}

}  // namespace

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const LossDeclaration& one : declared_losses()) names.push_back(one.name);
  return names;
}

const LossDeclaration* find_loss(const std::string& name) {
  const auto found = std::ranges::find(declared_losses(), name, &LossDeclaration::name);
  return found == declared_losses().end() ? nullptr : &*found;
}

void declare_loss(LossDeclaration declaration) {
  if (find_loss(declaration.name) != nullptr)
    wrong_use("a loss's name must be new, and '{}' is taken", declaration.name);
  declared_losses().push_back(std::move(declaration));
}

}  // namespace shellgame
