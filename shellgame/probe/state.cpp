#include "shellgame/probe/state.h"

#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shellgame/models/finite.h"
#include "shellgame/probe/probes.h"
#include "shellgame/probe/readout.h"
#include "shellgame/probe/table.h"
#include "shellgame/probe/transplant.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kRowsAtOnce = 32;       // side by side
constexpr std::size_t kTokensAtOnce = 1024;   // tokens at once
constexpr std::int64_t kMostBytes = 1 << 30;  // of states of some heads that are kept together

at::Tensor ids_of(const std::vector<WholeEpisode>& traces, const std::vector<std::size_t>& rows,
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
void walk_batch(const Model& model, const std::vector<WholeEpisode>& traces,
                const std::vector<std::size_t>& rows, const std::vector<std::size_t>& commands,
                const SeeState& see) {
  const auto device = model.parameters().front().value.device();
  const at::Tensor none = at::empty({0}, at::kLong).to(device);
  ModelState state;
  std::size_t read = 0;
  for (std::size_t place = 0; place < commands.size(); ++place) {
    const std::size_t end = traces[rows.front()].steps[commands[place]].to;
    while (read < end) {
      const std::size_t to = std::min(end, read + kTokensAtOnce);
      model.logits_at(ids_of(traces, rows, read, to).to(device), none, &state);
      read = to;
    }
    require_finite(state);
    see(rows, place, state);
  }
}

struct Targets {
  at::Tensor truth, belief;  // [N, n * n]; belief may be undefined
};

Targets targets_of(const WholeEpisodes& traces, const std::vector<std::size_t>& commands) {
  const auto n = static_cast<std::int64_t>(traces.source().variables());
  const auto samples = static_cast<std::int64_t>(traces.all().size() * commands.size());
  Targets targets{.truth = at::zeros({samples, n * n}, at::kDouble), .belief = {}};
  if (traces.source().has_beliefs()) targets.belief = at::zeros({samples, n * n}, at::kDouble);
  std::int64_t sample = 0;
  for (const WholeEpisode& trace : traces.all()) {
    for (const std::size_t c : commands) {
      const Step& command = trace.steps[c];
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

void walk_states(const Model& model, const std::vector<WholeEpisode>& traces,
                 const std::vector<std::size_t>& commands, const SeeState& see) {
  const at::NoGradGuard no_gradients;
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    std::vector<std::size_t> tokens;
    for (const std::size_t c : commands) tokens.push_back(traces[i].steps[c].to);
    alike[tokens].push_back(i);
  }
  for (const auto& [tokens, rows] : alike) {
    for (std::size_t from = 0; from < rows.size(); from += kRowsAtOnce) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(from);
      const auto size = static_cast<std::ptrdiff_t>(std::min(kRowsAtOnce, rows.size() - from));
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

std::vector<Readout> read_states(const Model& model, const WholeEpisodes& traces,
                                 const std::vector<HeadPlace>& heads, std::size_t places) {
  const std::size_t count = traces.all().size();
  if (count < 4) wrong_use("a readout needs at least 4 traces, not {}", count);
  const auto commands = spread_commands(traces.all().front().steps.size(), places);
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
            const auto layer = static_cast<std::size_t>(head.layer);
            const at::Tensor x =
                head_state(state.layers[layer], model.declaration(layer), head.head)
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
                                  static_cast<std::int64_t>(traces.source().variables())));
    }
    next += kept;
  }
  return result;
}

Json probe_state(const Model& model, const WholeEpisodes& traces, std::size_t places) {
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
  Json report = {{"chance", 1.0 / static_cast<double>(traces.source().variables())},
                 {"bayes_accuracy", nullptr}};
  if (traces.source().has_beliefs()) {
    const auto commands = spread_commands(traces.all().front().steps.size(), places);
    const Targets targets = targets_of(traces, commands);
    report["bayes_accuracy"] = right_values(targets.belief, targets.truth,
                                            static_cast<std::int64_t>(traces.source().variables()))
                                   .to(at::kDouble)
                                   .mean()
                                   .item<double>();
  }
  report["heads"] = rows;
  return report;
}

namespace {

std::string state_as_text(const nlohmann::ordered_json& report) {
  std::string text = fmt::format("chance {:.4f}", report.at("chance").get<double>());
  if (report.at("bayes_accuracy").is_number())
    text += fmt::format(", the most probable value is right in {:.4f}",
                        report.at("bayes_accuracy").get<double>());
  return text + '\n' + rows_as_text(report.at("heads"));
}

}  // namespace

ProbeEntry state_probe() {
  return {.name = "state",
          .ask =
              [](const ProbeQuestion& question) {
                return probe_state(question.model, question.episodes, asked_places(question));
              },
          .as_text = state_as_text};
}

}  // namespace shellgame
