// The section of a page on what is inside the models, from the answers of `shellgame probe` that
// lie in the runs' directories.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "shellgame/report/html_page.h"
#include "shellgame/report/page_chart.h"
#include "shellgame/report/page_table.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

const Json& heads_of(const Json& probe) {
  static const Json none = Json::array();
  return probe.is_object() && probe.contains("heads") && probe["heads"].is_array() ? probe["heads"]
                                                                                   : none;
}

std::string head_name(const Json& head) {
  return fmt::format("layer {} head {}", number_of(head, "layer"), number_of(head, "head"));
}

std::string about(const Json& probe) {
  return fmt::format("{}, {} commands, spacing {}, {} traces", text_of(probe, "task"),
                     number_of(probe, "commands"), number_of(probe, "spacing"),
                     number_of(probe, "count"));
}

std::string tracker(const Json& probe) {
  return fmt::format("<p><strong>{}</strong></p>\n", xml_escaped(text_of(probe, "reason"))) +
         table_of(fmt::format("Evidence for the tracking head ({})", about(probe)), heads_of(probe))
             .html();
}

std::string betas(const Json& probe) {
  std::vector<BoxMark> boxes;
  for (const Json& head : heads_of(probe)) {
    boxes.push_back({head_name(head), number_of(head, "min"), number_of(head, "q05"),
                     number_of(head, "q25"), number_of(head, "median"), number_of(head, "q75"),
                     number_of(head, "q95"), number_of(head, "max")});
  }
  return box_figure("Beta of each head: all, 90 %, the middle half, the median", "beta", boxes);
}

// The median beta of each head by kind of token, shaded from 0 to 2.
std::string betas_by_kind(const Json& probe) {
  if (!probe.contains("kinds") || !probe["kinds"].is_array()) return "";
  PageTable table{"Median beta by kind of token (shaded from 0 to 2)", {"head"}};
  std::vector<std::string> kinds, heads;
  std::map<std::pair<std::string, std::string>, double> medians;
  for (const Json& row : probe["kinds"]) {
    const std::string kind = text_of(row, "kind"), head = head_name(row);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
    medians[{head, kind}] = number_of(row, "median");
  }
  table.head.insert(table.head.end(), kinds.begin(), kinds.end());
  for (const std::string& head : heads) {
    std::vector<PageCell> row = {{head}};
    for (const std::string& kind : kinds) {
      const auto found = medians.find({head, kind});
      if (found == medians.end()) {
        row.push_back({"-"});
        continue;
      }
      const PageCell shade = shade_cell(found->second / 2);
      row.push_back(
          {fmt::format("{:.3f}", found->second), fmt::format("{}", found->second), shade.style});
    }
    table.rows.push_back(row);
  }
  return table.html();
}

std::string keys_figure(const Json& probe) {
  PageChart chart{.title = "Keys: variance explained by principal components",
                  .x_label = "components",
                  .y_label = "share",
                  .curves = {}};
  chart.y_most = 1;
  for (const Json& head : heads_of(probe)) {
    if (!head.contains("explained") || !head["explained"].is_array()) continue;
    PageCurve one{.curve = {head_name(head), {}, {}},
                  .colour = static_cast<int>(chart.curves.size())};
    for (const Json& share : head["explained"]) {
      if (!share.is_number()) continue;
      one.curve.x.push_back(static_cast<double>(one.curve.x.size() + 1));
      one.curve.y.push_back(share.get<double>());
    }
    chart.curves.push_back(std::move(one));
  }
  return chart.figure();
}

std::string intervention_figure(const Json& probe) {
  std::vector<std::pair<std::string, Curve>> curves;
  std::string what;
  for (const Json& row : heads_of(probe)) {
    const std::string name = head_name(row);
    what = text_of(row, "change") + " " + text_of(row, "tap");
    auto found = std::ranges::find(curves, name, &std::pair<std::string, Curve>::first);
    if (found == curves.end()) {
      curves.push_back({name, {name, {}, {}}});
      found = curves.end() - 1;
    }
    const double accuracy = number_of(row, "accuracy"), error = number_of(row, "standard_error");
    found->second.x.push_back(number_of(row, "amount"));
    found->second.y.push_back(accuracy);
    found->second.low.push_back(std::max(0.0, accuracy - error));
    found->second.high.push_back(std::min(1.0, accuracy + error));
  }
  PageChart chart{.title = "Accuracy when one head is changed (band: standard error)",
                  .x_label = what,
                  .y_label = "accuracy",
                  .curves = {}};
  chart.y_most = 1;
  chart.level_name = "chance";
  chart.level = number_of(probe, "chance");
  for (auto& [name, curve] : curves) {
    chart.curves.push_back(
        {.curve = std::move(curve), .colour = static_cast<int>(chart.curves.size())});
  }
  return chart.figure();
}

std::string of_run(const RunRecord& run) {
  std::string out, figures, tables;
  for (const auto& [name, probe] : run.probes) {
    if (!probe.is_object()) continue;
    if (name == "find-tracker") out += tracker(probe);
    if (name == "betas") {
      figures += betas(probe);
      tables += betas_by_kind(probe);
    }
    if (name == "keys") {
      figures += keys_figure(probe);
      tables += table_of(fmt::format("Keys and transitions of commands ({})", about(probe)),
                         heads_of(probe))
                    .html();
    }
    if (name == "intervene") {
      figures += intervention_figure(probe);
      tables +=
          folded("Interventions",
                 table_of(fmt::format("Interventions ({})", about(probe)), heads_of(probe)).html());
    }
    if (name == "state") {
      tables +=
          table_of(fmt::format("What each head's state tells ({})", about(probe)), heads_of(probe))
              .html();
    }
  }
  if (!figures.empty()) out += "<div class=\"charts\">\n" + figures + "</div>\n";
  out += tables;
  for (const auto& [name, why] : run.refused)
    out += fmt::format("<p class=\"note\">{}: {}</p>\n", xml_escaped(name), xml_escaped(why));
  return out;
}

}  // namespace

std::string probes_section(const std::vector<RunGroup>& groups) {
  std::string out;
  bool first = true;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      const std::string body = of_run(*run);
      out += folded(run_name(group, *run), body, first);
      if (!body.empty()) first = false;
    }
  }
  return out;
}

}  // namespace shellgame
