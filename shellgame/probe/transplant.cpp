#include "shellgame/probe/transplant.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "shellgame/models/finite.h"
#include "shellgame/probe/state.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kRowsAlone = 8;  // of traces that were read one by one, together

// States of single traces, side by side.
ModelState joined(const std::vector<const ModelState*>& states) {
  ModelState all = *states.front();
  const auto join = [&](PartState& part, auto get) {
    for (auto& [name, tensor] : part) {
      if (tensor.dim() == 0) continue;  // a position, the same for all
      std::vector<at::Tensor> rows;
      for (const ModelState* state : states) rows.push_back(get(*state).at(name));
      const bool alike = std::ranges::all_of(
          rows, [&](const at::Tensor& row) { return row.sizes() == rows.front().sizes(); });
      if (!alike) {
        fail("states can be moved between traces only where they are of one size, and '{}' is not",
             name);
      }
      tensor = at::cat(rows, 0);
    }
  };
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    join(all.layers[i].mixer, [i](const ModelState& s) { return s.layers[i].mixer; });
    join(all.layers[i].channel_mixer,
         [i](const ModelState& s) { return s.layers[i].channel_mixer; });
  }
  return all;
}

// What is asked of a trace after a place: the tokens up to its next reveal, and that reveal.
struct Asked {
  std::size_t trace = 0, from = 0;
  const Question* reveal = nullptr;
  std::size_t length() const { return reveal->after + 1 - from; }
};

// The branch of the reveal's values that the model takes, for each question.
std::vector<std::uint32_t> answers(const Model& model, const std::vector<WholeEpisode>& traces,
                                   const std::vector<Asked>& questions, ModelState state) {
  std::size_t longest = 0;
  for (const Asked& question : questions) longest = std::max(longest, question.length());
  const auto rows = static_cast<std::int64_t>(questions.size());
  const auto width = static_cast<std::int64_t>(longest);
  at::Tensor ids = at::zeros({rows, width}, at::kLong), places = at::empty({rows}, at::kLong);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Asked& question = questions[static_cast<std::size_t>(r)];
    std::copy_n(traces[question.trace].ids.data() + question.from, question.length(),
                ids.data_ptr<std::int64_t>() + r * width);
    places.data_ptr<std::int64_t>()[r] =
        r * width + static_cast<std::int64_t>(question.length()) - 1;
  }
  const auto device = model.parameters().front().value.device();
  const at::Tensor logits = model.logits_at(ids.to(device), places.to(device), &state)
                                .to(at::kCPU)
                                .to(at::kDouble)
                                .contiguous();
  require_finite(logits, "the model's logits");
  std::vector<std::uint32_t> chosen;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = logits.data_ptr<double>() + r * logits.size(1);
    const Question& reveal = *questions[static_cast<std::size_t>(r)].reveal;
    const std::vector<std::uint32_t>& tokens = reveal.values->node(ValueTree::kRoot).tokens;
    std::uint32_t best = 0;
    for (std::uint32_t branch = 1; branch < tokens.size(); ++branch) {
      if (row[tokens[branch]] > row[tokens[best]]) best = branch;
    }
    chosen.push_back(best);
  }
  return chosen;
}

// The traces `rows`, whose states after a command are side by side: each head's state in turn comes
// from the next trace, and what the answers do is counted.
void transplant(const Model& model, const std::vector<WholeEpisode>& traces,
                const std::vector<std::size_t>& rows, std::size_t command, const ModelState& state,
                std::vector<Transplant>& result) {
  std::vector<Asked> questions;
  std::vector<std::int64_t> asked;  // their places in the state
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const WholeEpisode& trace = traces[rows[r]];
    const std::size_t start = trace.steps[command].to;
    const auto reveal = std::ranges::find_if(
        trace.questions, [&](const Question& one) { return one.after >= start; });
    if (reveal == trace.questions.end()) continue;
    questions.push_back({rows[r], start, &*reveal});
    asked.push_back(static_cast<std::int64_t>(r));
  }
  if (questions.size() < 2) return;
  const ModelState here = moved_state(state, at::tensor(asked, at::kLong));
  const auto count = static_cast<std::int64_t>(questions.size());
  const at::Tensor next = at::arange(1, count + 1, at::kLong).remainder(count);
  const auto own = answers(model, traces, questions, copied_state(here));
  const auto others = answers(model, traces, questions, moved_state(here, next));
  for (Transplant& one : result) {
    ModelState mixed = copied_state(here);
    const auto layer = static_cast<std::size_t>(one.place.layer);
    move_head_state(mixed.layers[layer], model.declaration(layer), one.place.head, next);
    const auto seen = answers(model, traces, questions, std::move(mixed));
    for (std::size_t q = 0; q < seen.size(); ++q) {
      if (own[q] == others[q]) continue;
      ++one.questions;
      one.follows += seen[q] == others[q] ? 1 : 0;
      one.stays += seen[q] == own[q] ? 1 : 0;
    }
  }
}

// The same of traces that were read one by one; leaves none of them.
void transplant_alone(const Model& model, const std::vector<WholeEpisode>& traces,
                      std::vector<std::pair<std::size_t, ModelState>>& alone, std::size_t command,
                      std::vector<Transplant>& result) {
  if (alone.size() > 1) {
    std::vector<std::size_t> rows;
    std::vector<const ModelState*> states;
    for (const auto& [row, state] : alone) {
      rows.push_back(row);
      states.push_back(&state);
    }
    transplant(model, traces, rows, command, joined(states), result);
  }
  alone.clear();
}

}  // namespace

std::vector<Transplant> transplant_states(const Model& model,
                                          const std::vector<WholeEpisode>& traces,
                                          const std::vector<HeadPlace>& heads, std::size_t places) {
  const at::NoGradGuard no_gradients;
  const auto commands = spread_commands(traces.front().steps.size(), places);
  std::vector<Transplant> result;
  for (const HeadPlace& head : heads) result.push_back({.place = head});
  // Traces that no other walks with: by place, those that wait for a partner.
  std::vector<std::vector<std::pair<std::size_t, ModelState>>> alone(commands.size());
  walk_states(
      model, traces, commands,
      [&](const std::vector<std::size_t>& rows, std::size_t place, const ModelState& state) {
        if (rows.size() > 1) {
          transplant(model, traces, rows, commands[place], state, result);
          return;
        }
        alone[place].emplace_back(rows.front(), copied_state(state));
        if (alone[place].size() < kRowsAlone) return;
        transplant_alone(model, traces, alone[place], commands[place], result);
      });
  for (std::size_t place = 0; place < commands.size(); ++place) {
    transplant_alone(model, traces, alone[place], commands[place], result);
  }
  for (Transplant& one : result) {
    if (one.questions == 0) continue;
    one.follows /= static_cast<double>(one.questions);
    one.stays /= static_cast<double>(one.questions);
  }
  return result;
}

}  // namespace shellgame
