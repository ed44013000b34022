#include "shellgame/episodes/source.h"

#include <algorithm>

namespace shellgame {

std::vector<double> branch_belief(const Question& question, std::size_t depth) {
  if (question.belief.empty()) return {};
  const ValueTree& values = *question.values;
  const std::vector<std::uint32_t>& truth = values.path(question.value);
  std::uint32_t node = ValueTree::kRoot;
  for (std::size_t d = 0; d < depth; ++d) node = values.node(node).next[truth[d]];
  std::vector<double> branches(values.node(node).tokens.size());
  double all = 0;
  const auto reached = truth.begin() + static_cast<std::ptrdiff_t>(depth);
  for (std::uint32_t value = 0; value < question.belief.size(); ++value) {
    const std::vector<std::uint32_t>& path = values.path(value);
    if (path.size() <= depth || !std::equal(truth.begin(), reached, path.begin())) continue;
    branches[path[depth]] += question.belief[value];
    all += question.belief[value];
  }
  for (double& branch : branches) branch /= all;
  return branches;
}

std::string axes_words(const std::vector<Coordinate>& axes) {
  std::string words;
  for (const Coordinate& axis : axes) {
    if (!words.empty()) words += ", ";
    words += axis.name == "commands" ? axis.value + " commands" : axis.name + " " + axis.value;
  }
  return words;
}

nlohmann::ordered_json axis_json(const Coordinate& axis) {
  const bool number = !axis.value.empty() && axis.value.size() < 20 &&
                      std::ranges::all_of(axis.value, [](char c) { return c >= '0' && c <= '9'; });
  return number ? nlohmann::ordered_json(std::stoull(axis.value))
                : nlohmann::ordered_json(axis.value);
}

void Source::whole(std::uint64_t index, Piece& piece) const {
  const auto one = episode(index);
  if (!one->next(piece, tokens())) piece = Piece();
  for (Piece more; one->next(more, tokens());) {
    const std::size_t before = piece.ids.size();
    for (Question& question : more.questions) {
      question.after += before;
      piece.questions.push_back(std::move(question));
    }
    for (Step& step : more.steps) {
      step.from += before;
      step.to += before;
      piece.steps.push_back(std::move(step));
    }
    piece.ids.insert(piece.ids.end(), more.ids.begin(), more.ids.end());
    piece.kinds.insert(piece.kinds.end(), more.kinds.begin(), more.kinds.end());
  }
}

}  // namespace shellgame
