// The learning part's side of `shellgame probe`.
#include <fmt/format.h>

#include "shellgame/models/checkpoint.h"
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
#include "shellgame/tool/run_evaluate.h"
#include "shellgame/tool/run_learn.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

Json report_of(const ProbeOptions& options, const Model& model, const ProbeTraces& traces) {
  if (options.probe == "betas") return probe_betas(model, traces.all());
  if (options.probe == "keys") return probe_keys(model, traces.all());
  if (options.probe == "state") return probe_state(model, traces, options.places);
  if (options.probe == "find-tracker") {
    return find_tracker(model, traces, {.places = options.places});
  }
  return probe_intervene(model, traces.rows(), options.count,
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
void write_report(const ProbeOptions& options, const Model& model, const ProbeTraces& traces,
                  Json report) {
  report.update(report_of(options, model, traces));
  OutputFile file(options.output);
  if (options.format == "json") {
    file.write(report.dump(1) + "\n");
  } else if (options.format == "csv") {
    file.write(rows_as_csv(report.at(options.probe == "betas" ? "kinds" : "heads")));
  } else {
    file.write(
        printable_lines(fmt::format("{}: {}, {} commands, spacing {}, {} traces\n",
                                    options.model.directory, report.at("task").get<std::string>(),
                                    report.at("commands").get<std::uint64_t>(),
                                    report.at("spacing").get<std::uint64_t>(), options.count) +
                        as_text(options, report)));
  }
  file.commit();
}

}  // namespace

void run_probe(const ProbeOptions& options) {
  const Model model = open_model(options.model);
  if (options.words) {
    const std::uint64_t kept = options.probe == "intervene" ? 0 : options.count;
    const ProbeTraces words(*options.words, evaluation_seed(options.seed), kept);
    check_vocabulary(model, words.rows().vocabulary_size(), sequence_words(*options.words));
    write_report(options, model, words,
                 {{"model", options.model.directory},
                  {"task", sequence_words(*options.words)},
                  {"commands", options.words->max},
                  {"spacing", 1},
                  {"count", options.count},
                  {"seed", options.seed}});
    return;
  }
  const auto tokenizer =
      open_tokenizer(tokenizer_of(options.tokenizer, options.model.directory, model));
  std::string note;
  const bool beliefs = beliefs_are_cheap(options.task, options.count, note);
  if (!note.empty()) say("note: {}", note);
  check_vocabulary(model, tokenizer->vocabulary_size(), tokenizer->name());
  // Interventions are judged on rows that evaluation makes for itself.
  const std::uint64_t kept = options.probe == "intervene" ? 0 : options.count;
  const ProbeTraces traces(options.task, *tokenizer, evaluation_seed(options.seed), kept, beliefs);
  write_report(options, model, traces,
               {{"model", options.model.directory},
                {"task", task_words(options.task)},
                {"commands", options.task.commands},
                {"spacing", options.task.spacing},
                {"count", options.count},
                {"seed", options.seed}});
}

}  // namespace shellgame
