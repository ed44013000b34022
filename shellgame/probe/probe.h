// Probes by name: what `shellgame probe NAME` and `shellgame probe custom NAME` run. A new one is a
// ProbeEntry; in this tree it is named in probes.h, elsewhere it is given to register_probe.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/episodes/whole_episodes.h"
#include "shellgame/models/model.h"

namespace shellgame {

struct ProbeQuestion {
  const Model& model;
  const WholeEpisodes& episodes;  // `count` of them, or none (ProbeEntry::keeps_episodes)
  std::uint64_t count = 0;
  nlohmann::json settings = nlohmann::json::object();  // of this probe, by name
};

struct ProbeEntry {
  std::string name;
  // An object with a list of rows, one a head, say; see probe/table.h. Throws UsageError for a
  // model that it cannot ask.
  std::function<nlohmann::ordered_json(const ProbeQuestion&)> ask;
  // For people; empty: the rows as a table.
  std::function<std::string(const nlohmann::ordered_json& report)> as_text = {};
  std::string rows = "heads";  // the key of the list of rows
  std::string csv_rows = {};   // that of the CSV, if another
  bool keeps_episodes = true;  // false: it makes episodes from their source by itself
  bool needs_steps = true;     // false: it also takes data that have none (counters, a file)
};

// Throws UsageError if the name is taken.
void register_probe(ProbeEntry entry);
// Throws UsageError, naming all, if there is none of that name.
const ProbeEntry& find_probe(const std::string& name);
std::vector<std::string> registered_probes();

// The answer for people, and its rows with commas.
std::string probe_as_text(const ProbeEntry& probe, const nlohmann::ordered_json& report);
std::string probe_as_csv(const ProbeEntry& probe, const nlohmann::ordered_json& report);

}  // namespace shellgame
