// The learning part's side of `shellgame probe`.
#include <fmt/format.h>

#include "shellgame/models/checkpoint.h"
#include "shellgame/models/model_tokenizer.h"
#include "shellgame/probe/betas.h"
#include "shellgame/probe/intervene.h"
#include "shellgame/probe/keys.h"
#include "shellgame/probe/state.h"
#include "shellgame/probe/table.h"
#include "shellgame/probe/tracker.h"
#include "shellgame/random/seeds.h"
#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/tokens/tokenizer.h"
#include "shellgame/tool/probe_options.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json report_of(const ProbeOptions& options, const Model& model, const WholeEpisodes& traces) {
  if (options.probe == "betas") return probe_betas(model, traces.all());
  if (options.probe == "keys") return probe_keys(model, traces.all());
  if (options.probe == "state") return probe_state(model, traces, options.places);
  if (options.probe == "find-tracker") {
    return find_tracker(model, traces, {.places = options.places});
  }
  return probe_intervene(model, traces.source(), options.count,
                         {.change = parse_change(options.change),
                          .tap = options.tap,
                          .layer = static_cast<int>(options.layer),
                          .head = static_cast<int>(options.head),
                          .amounts = options.amounts});
}

std::string as_text(const ProbeOptions& options, const Json& report) {
  if (options.probe == "betas") return betas_as_text(report);
  if (options.probe == "intervene") return intervene_as_text(report);
  std::string text;
  if (options.probe == "find-tracker") {
    text =
        fmt::format("{}\naccuracy {:.4f}, chance {:.4f}\n", report.at("reason").get<std::string>(),
                    report.at("accuracy").get<double>(), report.at("chance").get<double>());
  }
  if (options.probe == "state") {
    text = fmt::format("chance {:.4f}", report.at("chance").get<double>());
    if (report.at("bayes_accuracy").is_number()) {
      text += fmt::format(", the most probable value is right in {:.4f}",
                          report.at("bayes_accuracy").get<double>());
    }
    text += '\n';
  }
  return text + rows_as_text(report.at("heads"));
}

void check_vocabulary(const Model& model, std::uint64_t tokens, const std::string& of) {
  if (tokens <= static_cast<std::uint64_t>(model.config().spec().vocabulary)) return;
  wrong_use("the model must know the {} tokens of '{}', but its vocabulary has {}", tokens, of,
            model.config().spec().vocabulary);
}

// `report`: what was asked; the answer is added to it.
void write_report(const ProbeOptions& options, const Model& model, const WholeEpisodes& traces,
                  Json report) {
  report.update(report_of(options, model, traces));
  OutputFile file(options.output);
  if (options.format == "json") {
    file.write(report.dump(1) + "\n");
  } else if (options.format == "csv") {
    file.write(rows_as_csv(report.at(options.probe == "betas" ? "kinds" : "heads")));
  } else {
    file.write(printable_lines(fmt::format("{}: {}, {}, {} traces\n", options.model.directory,
                                           report.at("task").get<std::string>(),
                                           axes_words(traces.source().axes()), options.count) +
                               as_text(options, report)));
  }
  file.commit();
}

}  // namespace

void run_probe(const ProbeOptions& options) {
  const Model model = open_model(options.model);
  const auto tokenizer =
      tokenizer_for(*options.data, options.tokenizer, options.model.directory, model);
  std::string note;
  const bool beliefs = options.data->beliefs_are_cheap(options.count, note);
  if (!note.empty()) say("note: {}", note);
  auto source = options.data->source(
      tokenizer.get(), {.seed = evaluation_seed(options.seed), .beliefs = beliefs, .steps = true});
  check_vocabulary(model, source->vocabulary_size(), source->name());
  Json asked = {{"model", options.model.directory}, {"task", source->name()}};
  for (const Coordinate& axis : source->axes()) asked[axis.name] = axis_json(axis);
  asked["count"] = options.count;
  asked["seed"] = options.seed;
  // Interventions are judged on episodes that evaluation makes for itself.
  const std::uint64_t kept = options.probe == "intervene" ? 0 : options.count;
  write_report(options, model, WholeEpisodes(std::move(source), kept), asked);
}

}  // namespace shellgame
