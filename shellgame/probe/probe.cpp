#include "shellgame/probe/probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "shellgame/probe/probes.h"
#include "shellgame/probe/table.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

using Report = nlohmann::ordered_json;

std::map<std::string, ProbeEntry>& probes() {
  static std::map<std::string, ProbeEntry> all = [] {
    std::map<std::string, ProbeEntry> own;
    for (const ProbeEntry& entry : built_in_probes()) own.emplace(entry.name, entry);
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
