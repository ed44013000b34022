#include "shellgame/probe/probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "shellgame/probe/betas.h"
#include "shellgame/probe/intervene.h"
#include "shellgame/probe/keys.h"
#include "shellgame/probe/state.h"
#include "shellgame/probe/table.h"
#include "shellgame/probe/tracker.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

using Report = nlohmann::ordered_json;

constexpr std::size_t kUsualPlaces = 12;

std::size_t places_of(const ProbeQuestion& question) {
  return question.settings.value("places", kUsualPlaces);
}

Report ask_intervene(const ProbeQuestion& question) {
  const nlohmann::json& given = question.settings;
  return probe_intervene(question.model, question.episodes.source(), question.count,
                         {.change = parse_change(given.value("change", "scale")),
                          .tap = given.value("tap", ""),
                          .layer = given.value("layer", -1),
                          .head = given.value("head", -1),
                          .amounts = given.value("amounts", std::vector<double>())});
}

std::string tracker_as_text(const Report& report) {
  return fmt::format("{}\naccuracy {:.4f}, chance {:.4f}\n", report.at("reason").get<std::string>(),
                     report.at("accuracy").get<double>(), report.at("chance").get<double>()) +
         rows_as_text(report.at("heads"));
}

std::string state_as_text(const Report& report) {
  std::string text = fmt::format("chance {:.4f}", report.at("chance").get<double>());
  if (report.at("bayes_accuracy").is_number())
    text += fmt::format(", the most probable value is right in {:.4f}",
                        report.at("bayes_accuracy").get<double>());
  return text + '\n' + rows_as_text(report.at("heads"));
}

std::map<std::string, ProbeEntry>& probes() {
  static std::map<std::string, ProbeEntry> all = [] {
    std::map<std::string, ProbeEntry> own;
    for (const ProbeEntry& entry : {
             ProbeEntry{.name = "betas",
            .ask =
                            [](const ProbeQuestion& question) {
                              return probe_betas(question.model, question.episodes.all());
                            },
            .as_text = betas_as_text,
            .csv_rows = "kinds"},
             ProbeEntry{.name = "keys",
             .ask =
                            [](const ProbeQuestion& question) {
                              return probe_keys(question.model, question.episodes.all());
                            }},
             ProbeEntry{.name = "state",
             .ask =
                            [](const ProbeQuestion& question) {
                              return probe_state(question.model, question.episodes,
                                                 places_of(question));
                            },
             .as_text = state_as_text},
             ProbeEntry{.name = "find-tracker",
             .ask =
                            [](const ProbeQuestion& question) {
                              return find_tracker(question.model, question.episodes,
                                                  {.places = places_of(question)});
                            },
             .as_text = tracker_as_text},
             // Judged on episodes that evaluation makes for itself.
             ProbeEntry{.name = "intervene",
             .ask = ask_intervene,
             .as_text = intervene_as_text,
             .keeps_episodes = false},
         }) {
      own.emplace(entry.name, entry);
    }
    return own;
  }();
  return all;
}

}  // namespace

void register_probe(ProbeEntry entry) {
  const std::string name = entry.name;
  if (!probes().emplace(name, std::move(entry)).second)
    wrong_use("a probe's name must be new, and '{}' is taken", name);
}

const ProbeEntry& find_probe(const std::string& name) {
  const auto found = probes().find(name);
  if (found == probes().end())
    wrong_use("a probe must be one of {}, not '{}'", fmt::join(registered_probes(), ", "), name);
  return found->second;
}

std::vector<std::string> registered_probes() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : probes()) names.push_back(name);
  return names;
}

namespace {

// What a probe of others gave may lack its rows.
const Report& rows_of_report(const ProbeEntry& probe, const Report& report,
                             const std::string& key) {
  const auto found = report.find(key);
  if (found == report.end() || !found->is_array())
    fail("the answer of the probe '{}' must have the list '{}', and has none", probe.name, key);
  return *found;
}

}  // namespace

std::string probe_as_text(const ProbeEntry& probe, const Report& report) {
  if (probe.as_text) return probe.as_text(report);
  return rows_as_text(rows_of_report(probe, report, probe.rows));
}

std::string probe_as_csv(const ProbeEntry& probe, const Report& report) {
  return rows_as_csv(
      rows_of_report(probe, report, probe.csv_rows.empty() ? probe.rows : probe.csv_rows));
}

}  // namespace shellgame
