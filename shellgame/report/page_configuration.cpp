// The section of a page on what was asked: the differences, and each resolved file with the lines
// that differ marked.
#include <fmt/format.h>

#include <algorithm>

#include "shellgame/report/html_page.h"
#include "shellgame/report/page_table.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

std::string differences(const std::vector<RunGroup>& groups, const std::set<std::string>& keys) {
  PageTable table{"What differs between configurations", {"key"}};
  for (const RunGroup& group : groups) table.head.push_back(group.name);
  for (const std::string& key : keys) {
    if (key == "seed") continue;
    std::vector<PageCell> row = {{key}};
    for (const RunGroup& group : groups) {
      const auto& settings = group.runs[0]->settings;
      const auto found = std::ranges::find(settings, key, &Setting::key);
      row.push_back({found == settings.end() ? "(not set)" : found->value, "", "text"});
    }
    table.rows.push_back(row);
  }
  return table.html();
}

// The file with its differing lines marked.
std::string marked_file(const RunRecord& run, const std::set<std::string>& keys) {
  std::set<std::size_t> lines;
  for (const Setting& setting : run.settings) {
    if (keys.contains(setting.key)) lines.insert(setting.line);
  }
  std::string out = "<pre class=\"toml\" tabindex=\"0\">";
  std::size_t number = 0;
  for (std::size_t from = 0; from < run.toml.size();) {
    const std::size_t end = std::min(run.toml.find('\n', from), run.toml.size());
    const std::string line = xml_escaped(run.toml.substr(from, end - from));
    out += lines.contains(++number) ? "<mark>" + line + "</mark>\n" : line + "\n";
    from = end + 1;
  }
  return out + "</pre>\n";
}

}  // namespace

std::string configuration_section(const std::vector<RunRecord>& runs,
                                  const std::vector<RunGroup>& groups) {
  const std::set<std::string> keys = differing_keys(runs);
  std::string out = groups.size() > 1 ? differences(groups, keys) : "";
  for (const RunGroup& group : groups) {
    std::string seeds;
    for (const RunRecord* run : group.runs) seeds += (seeds.empty() ? "" : ", ") + run->seed;
    out += folded(fmt::format("{}: experiment.toml, {} {}", group.name,
                              group.runs.size() == 1 ? "seed" : "the same for seeds", seeds),
                  marked_file(*group.runs[0], keys), runs.size() == 1);
  }
  if (!keys.empty()) out += "<p class=\"note\">Marked lines are not the same in all runs.</p>\n";
  return out;
}

}  // namespace shellgame
