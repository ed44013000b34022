#include "shellgame/probe/state.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <map>

#include "shellgame/probe/readout.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRows = 32;             // side by side
constexpr std::size_t kRowsAlone = 8;         // of traces that were read one by one
constexpr std::size_t kSlice = 1024;          // tokens at once
constexpr std::int64_t kMostBytes = 1 << 30;  // of states of some heads that are kept together

at::Tensor ids_of(const std::vector<ProbeTrace>& traces, const std::vector<std::size_t>& rows,
                  std::size_t from, std::size_t to) {
  at::Tensor ids = at::empty(
      {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(to - from)}, at::kLong);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(traces[rows[r]].ids.data() + from, to - from,
                ids.data_ptr<std::int64_t>() + r * (to - from));
  }
  return ids;
}

// One batch of traces whose commands stand at the same tokens.
void walk_batch(const Model& model, const std::vector<ProbeTrace>& traces,
                const std::vector<std::size_t>& rows, const std::vector<std::size_t>& commands,
                const SeeState& see) {
  const auto device = model.parameters().front().value.device();
  const at::Tensor none = at::empty({0}, at::kLong).to(device);
  ModelState state;
  std::size_t read = 0;
  for (std::size_t place = 0; place < commands.size(); ++place) {
    const std::size_t end = traces[rows.front()].commands[commands[place]].to;
    while (read < end) {
      const std::size_t to = std::min(end, read + kSlice);
      model.logits_at(ids_of(traces, rows, read, to).to(device), none, &state);
      read = to;
    }
    see(rows, place, state);
  }
}

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
struct Question {
  std::size_t trace = 0, from = 0;
  const Reveal* reveal = nullptr;
  std::size_t length() const { return reveal->after + 1 - from; }
};

// The branch of the reveal's values that the model takes, for each question.
std::vector<std::uint32_t> answers(const Model& model, const std::vector<ProbeTrace>& traces,
                                   const std::vector<Question>& questions, ModelState state) {
  std::size_t longest = 0;
  for (const Question& question : questions) longest = std::max(longest, question.length());
  const auto rows = static_cast<std::int64_t>(questions.size());
  const auto width = static_cast<std::int64_t>(longest);
  at::Tensor ids = at::zeros({rows, width}, at::kLong), places = at::empty({rows}, at::kLong);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Question& question = questions[static_cast<std::size_t>(r)];
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
  std::vector<std::uint32_t> chosen;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* row = logits.data_ptr<double>() + r * logits.size(1);
    const Reveal& reveal = *questions[static_cast<std::size_t>(r)].reveal;
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
void transplant(const Model& model, const std::vector<ProbeTrace>& traces,
                const std::vector<std::size_t>& rows, std::size_t command, const ModelState& state,
                std::vector<Transplant>& result) {
  std::vector<Question> questions;
  std::vector<std::int64_t> asked;  // their places in the state
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const ProbeTrace& trace = traces[rows[r]];
    const std::size_t start = trace.commands[command].to;
    const auto reveal =
        std::ranges::find_if(trace.reveals, [&](const Reveal& one) { return one.after >= start; });
    if (reveal == trace.reveals.end()) continue;
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
    move_head_state(mixed.layers[static_cast<std::size_t>(one.place.layer)], one.place.head, next);
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
void transplant_alone(const Model& model, const std::vector<ProbeTrace>& traces,
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

struct Targets {
  at::Tensor truth, belief;  // [N, n * n]; belief may be undefined
};

Targets targets_of(const ProbeTraces& traces, const std::vector<std::size_t>& commands) {
  const auto n = static_cast<std::int64_t>(traces.variables());
  const auto samples = static_cast<std::int64_t>(traces.all().size() * commands.size());
  Targets targets{.truth = at::zeros({samples, n * n}, at::kDouble), .belief = {}};
  if (traces.has_beliefs()) targets.belief = at::zeros({samples, n * n}, at::kDouble);
  std::int64_t sample = 0;
  for (const ProbeTrace& trace : traces.all()) {
    for (const std::size_t c : commands) {
      const ProbeCommand& command = trace.commands[c];
      double* truth = targets.truth.data_ptr<double>() + sample * n * n;
      for (std::int64_t v = 0; v < n; ++v) {
        truth[v * n + command.state[static_cast<std::size_t>(v)]] = 1;
      }
      if (targets.belief.defined()) {
        std::ranges::copy(command.belief, targets.belief.data_ptr<double>() + sample * n * n);
      }
      ++sample;
    }
  }
  return targets;
}

// right [N, n]: whether the largest of each variable's scores is its true value.
at::Tensor right_values(const at::Tensor& scores, const at::Tensor& truth, std::int64_t n) {
  return scores.view({-1, n, n}).argmax(-1) == truth.view({-1, n, n}).argmax(-1);
}

Readout readout_of(const HeadPlace& place, const at::Tensor& features, const Targets& targets,
                   std::int64_t fitted, std::int64_t n) {
  const std::int64_t all = features.size(0);
  const auto fit = [&](const at::Tensor& x) { return x.narrow(0, 0, fitted); };
  const auto test = [&](const at::Tensor& x) { return x.narrow(0, fitted, all - fitted); };
  const Ridge ridge = fit_ridge(fit(features), fit(targets.truth));
  const at::Tensor right = right_values(ridge.predict(test(features)), test(targets.truth), n);
  Readout result{.place = place,
                 .accuracy = right.to(at::kDouble).mean().item<double>(),
                 .exact = right.all(1).to(at::kDouble).mean().item<double>(),
                 .explained = explained(ridge, test(features), test(targets.truth)),
                 .belief = {},
                 .features = features.size(1),
                 .fitted = fitted,
                 .of = all - fitted};
  if (!targets.belief.defined()) return result;
  if (targets.belief.equal(targets.truth)) {  // nothing is uncertain
    result.belief = result.explained;
  } else {
    const Ridge of_belief = fit_ridge(fit(features), fit(targets.belief));
    result.belief = explained(of_belief, test(features), test(targets.belief));
  }
  return result;
}

}  // namespace

std::vector<std::size_t> spread_commands(std::size_t commands, std::size_t count) {
  if (commands < 2) wrong_use("traces must have at least 2 commands, not {}", commands);
  count = std::min(count, commands - 1);
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i <= count; ++i) places.push_back(i * (commands - 1) / count - 1);
  return places;
}

void walk_states(const Model& model, const std::vector<ProbeTrace>& traces,
                 const std::vector<std::size_t>& commands, const SeeState& see) {
  const at::NoGradGuard no_gradients;
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    std::vector<std::size_t> tokens;
    for (const std::size_t c : commands) tokens.push_back(traces[i].commands[c].to);
    alike[tokens].push_back(i);
  }
  for (const auto& [tokens, rows] : alike) {
    for (std::size_t from = 0; from < rows.size(); from += kRows) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(from);
      const auto size = static_cast<std::ptrdiff_t>(std::min(kRows, rows.size() - from));
      walk_batch(model, traces, {first, first + size}, commands, see);
    }
  }
}

std::vector<HeadPlace> heads_with_state(const std::vector<LayerHeads>& layers) {
  std::vector<HeadPlace> heads = heads_with(layers, &LayerHeads::state);
  if (heads.empty()) {
    wrong_use(
        "a state must be of one size to be read, and what the mixer '{}' remembers grows with "
        "every token (`probe intervene --change ablate` works on its heads)",
        layers.front().mixer);
  }
  return heads;
}

std::vector<Readout> read_states(const Model& model, const ProbeTraces& traces,
                                 const std::vector<HeadPlace>& heads, std::size_t places) {
  const std::size_t count = traces.all().size();
  if (count < 4) wrong_use("a readout needs at least 4 traces, not {}", count);
  const auto commands = spread_commands(traces.all().front().commands.size(), places);
  const Targets targets = targets_of(traces, commands);
  const auto samples = static_cast<std::int64_t>(count * commands.size());
  const auto fitted = static_cast<std::int64_t>(count * 3 / 4 * commands.size());
  std::vector<Readout> result;
  for (std::size_t next = 0; next < heads.size();) {
    // As many heads as memory allows, in one walk.
    std::vector<at::Tensor> features;
    std::size_t kept = heads.size() - next;
    walk_states(
        model, traces.all(), commands,
        [&](const std::vector<std::size_t>& rows, std::size_t place, const ModelState& state) {
          const bool first = features.empty();
          for (std::size_t i = 0; i < kept; ++i) {
            const HeadPlace& head = heads[next + i];
            const at::Tensor x =
                head_state(state.layers[static_cast<std::size_t>(head.layer)], head.head)
                    .to(at::kCPU)
                    .to(at::kFloat);
            if (first) {
              const std::int64_t bytes = samples * x.size(1) * 4;
              kept = std::min(
                  kept, static_cast<std::size_t>(std::max<std::int64_t>(1, kMostBytes / bytes)));
              features.push_back(at::empty({samples, x.size(1)}, at::kFloat));
            }
            for (std::size_t r = 0; r < rows.size(); ++r) {
              features[i][static_cast<std::int64_t>(rows[r] * commands.size() + place)].copy_(
                  x[static_cast<std::int64_t>(r)]);
            }
          }
        });
    for (std::size_t i = 0; i < kept; ++i) {
      result.push_back(readout_of(heads[next + i], features[i], targets, fitted,
                                  static_cast<std::int64_t>(traces.variables())));
    }
    next += kept;
  }
  return result;
}

std::vector<Transplant> transplant_states(const Model& model, const std::vector<ProbeTrace>& traces,
                                          const std::vector<HeadPlace>& heads, std::size_t places) {
  const at::NoGradGuard no_gradients;
  const auto commands = spread_commands(traces.front().commands.size(), places);
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

Json probe_state(const Model& model, const ProbeTraces& traces, std::size_t places) {
  const std::vector<HeadPlace> heads = heads_with_state(heads_of(model));
  const std::vector<Readout> readouts = read_states(model, traces, heads, places);
  const std::vector<Transplant> moved = transplant_states(model, traces.all(), heads, 4);
  Json rows = Json::array();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Readout& read = readouts[i];
    Json row = {{"layer", heads[i].layer},
                {"head", heads[i].head},
                {"accuracy", read.accuracy},
                {"exact", read.exact},
                {"explained", read.explained},
                {"belief", nullptr},
                {"follows", nullptr},
                {"stays", nullptr},
                {"questions", moved[i].questions},
                {"features", read.features},
                {"fitted", read.fitted},
                {"of", read.of}};
    if (read.belief) row["belief"] = *read.belief;
    if (moved[i].questions > 0) {
      row["follows"] = moved[i].follows;
      row["stays"] = moved[i].stays;
    }
    rows.push_back(std::move(row));
  }
  Json report = {{"chance", traces.rows().chance()}, {"bayes_accuracy", nullptr}};
  if (traces.has_beliefs()) {
    const auto commands = spread_commands(traces.all().front().commands.size(), places);
    const Targets targets = targets_of(traces, commands);
    report["bayes_accuracy"] =
        right_values(targets.belief, targets.truth, static_cast<std::int64_t>(traces.variables()))
            .to(at::kDouble)
            .mean()
            .item<double>();
  }
  report["heads"] = rows;
  return report;
}

}  // namespace shellgame
