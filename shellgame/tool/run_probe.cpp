// The learning part's side of `shellgame probe`.
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/models/checkpoint.h"
#include "shellgame/models/model_tokenizer.h"
#include "shellgame/probe/probe.h"
#include "shellgame/random/seeds.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/tool/probe_options.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

// Of the probe's own options those that were declared for it; find_probe's table knows what they
// do.
nlohmann::json settings_of(const ProbeOptions& options) {
  if (options.custom) return options.settings;
  if (options.probe == "cycle")
    return {
        {"cycles", options.cycles}, {"measured", options.measured}, {"rounded", options.rounded}};
  if (options.probe != "intervene") return {{"places", options.places}};
  return {{"change", options.change},
          {"tap", options.tap},
          {"layer", options.layer},
          {"head", options.head},
          {"amounts", options.amounts}};
}

void check_vocabulary(const Model& model, std::uint64_t tokens, const std::string& of) {
  if (tokens <= static_cast<std::uint64_t>(model.config().spec().vocabulary)) return;
  wrong_use("the model must know the {} tokens of '{}', but its vocabulary has {}", tokens, of,
            model.config().spec().vocabulary);
}

// `report`: what was asked; the answer is added to it.
void write_report(const ProbeOptions& options, const ProbeEntry& probe, const Model& model,
                  const WholeEpisodes& traces, std::uint64_t count, Json report) {
  report.update(probe.ask(
      {.model = model, .episodes = traces, .count = count, .settings = settings_of(options)}));
  OutputFile file(options.output);
  if (options.format == "json") {
    file.write(report.dump(1) + "\n");
  } else if (options.format == "csv") {
    file.write(probe_as_csv(probe, report));
  } else {
    file.write(printable_lines(fmt::format("{}: {}, {}, {} traces\n", options.model.directory,
                                           report.at("task").get<std::string>(),
                                           axes_words(traces.source().axes()), count) +
                               probe_as_text(probe, report)));
  }
  file.commit();
}

}  // namespace

void run_probe(const ProbeOptions& options) {
  const ProbeEntry& probe = find_probe(options.probe);
  const Model model = open_model(options.model);
  const auto tokenizer =
      tokenizer_for(*options.data, options.tokenizer, options.model.directory, model);
  std::string note;
  const bool beliefs = options.data->beliefs_are_cheap(options.count, note);
  if (!note.empty()) say("note: {}", note);
  auto source = options.data->source(
      tokenizer.get(), {.seed = evaluation_seed(options.seed), .beliefs = beliefs, .steps = true});
  check_vocabulary(model, source->vocabulary_size(), source->name());
  const std::uint64_t count =
      source->episodes() > 0 ? std::min(options.count, source->episodes()) : options.count;
  Json asked = {{"model", options.model.directory}, {"task", source->name()}};
  for (const Coordinate& axis : source->axes()) asked[axis.name] = axis_json(axis);
  asked["count"] = count;
  asked["seed"] = options.seed;
  const WholeEpisodes episodes(std::move(source), probe.keeps_episodes ? count : 0,
                               probe.needs_steps);
  write_report(options, probe, model, episodes, count, asked);
}

}  // namespace shellgame
