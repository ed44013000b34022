#include "shellgame/report/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generated_page.h"
#include "shellgame/report/page_table.h"
#include "shellgame/report/xml_text.h"

namespace shellgame {
namespace {

using Json = nlohmann::ordered_json;

struct Section {
  const char* id;
  const char* title;
  std::string body;
};

// The experiments' names, each once.
std::string title_of(const std::vector<RunRecord>& runs) {
  std::vector<std::string> names;
  for (const RunRecord& run : runs) {
    const std::string& name = run.name.empty() ? run.directory : run.name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string title;
  for (std::size_t i = 0; i < names.size() && i < 4; ++i) title += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 4 ? title + ", ..." : title;
}

std::string count_text(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string lead_of(const std::vector<RunRecord>& runs, const std::vector<RunGroup>& groups) {
  const auto unfinished = static_cast<std::size_t>(
      std::ranges::count_if(runs, [](const auto& r) { return !r.complete(); }));
  std::string lead = count_text(runs.size(), "run");
  if (groups.size() > 1) lead += fmt::format(" of {} configurations", groups.size());
  lead += unfinished == 0             ? ", all complete."
          : unfinished == runs.size() ? ", not finished yet: what there is so far."
                                      : fmt::format(", {} of them not finished yet.", unfinished);
  if (runs.size() == 1)
    lead =
        unfinished == 0 ? "One run, complete." : "One run, not finished yet: what there is so far.";
  return lead;
}

std::string state_of(const RunRecord& run) {
  if (run.complete()) return "complete";
  std::string text =
      run.course.step.empty()
          ? "unfinished, no step yet"
          : fmt::format("unfinished, at step {}",
                        short_value(static_cast<std::int64_t>(run.course.step.back())));
  return text + (run.checkpoint < 0
                     ? ", no checkpoint"
                     : fmt::format(", last checkpoint at step {}", short_value(run.checkpoint)));
}

// A number of result.json, or what metrics have of it so far.
Json so_far(const RunRecord& run, const std::string& key) {
  if (run.complete()) return run.result.contains(key) ? run.result[key] : Json();
  if (run.course.step.empty()) return Json();
  if (key == "steps") return static_cast<std::int64_t>(run.course.step.back());
  if (key == "tokens") return static_cast<std::int64_t>(run.course.tokens.back());
  if (key == "accuracy") {
    const std::size_t last = std::min<std::size_t>(20, run.course.accuracy.size());
    return run_spread({run.course.accuracy.end() - static_cast<std::ptrdiff_t>(last),
                       run.course.accuracy.end()})
        .mean;
  }
  return Json();
}

}  // namespace

std::string overview_section(const std::vector<RunGroup>& groups) {
  const std::vector<std::pair<std::string, std::string>> columns = {
      {"steps", "steps"},
      {"tokens", "tokens"},
      {"seconds", "seconds"},
      {"processor_seconds", "CPU seconds"},
      {"accuracy", "accuracy in training"},
      {"parameters", "parameters"},
      {"peak_memory_bytes", "peak memory, bytes"}};
  PageTable table{"Runs", {"run", "state"}};
  for (const auto& [key, words] : columns) table.head.push_back(words);
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      std::vector<PageCell> row = {{run_name(group, *run), run->directory},
                                   {state_of(*run), "", run->complete() ? "" : "unfinished"}};
      for (const auto& [key, words] : columns) row.push_back(value_cell(so_far(*run, key)));
      table.rows.push_back(row);
    }
    const auto complete =
        std::ranges::count_if(group.runs, [](const auto* r) { return r->complete(); });
    if (complete < 2) continue;
    std::vector<PageCell> row = {{fmt::format("{}, mean", group.name), "", "mean"},
                                 {fmt::format("± deviation of {} runs", complete), "", "mean"}};
    for (const auto& [key, words] : columns) {
      std::vector<double> values;
      for (const RunRecord* run : group.runs)
        if (run->complete()) values.push_back(number_of(run->result, key));
      const RunSpread spread = run_spread(values);
      row.push_back(
          {fmt::format("{} ± {}", short_number(spread.mean), short_number(spread.deviation)),
           fmt::format("{} ± {}", spread.mean, spread.deviation), "mean"});
    }
    table.rows.push_back(row);
  }
  return table.html();
}

std::string environment_section(const std::vector<RunGroup>& groups) {
  Json rows = Json::array();
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      Json row = {{"run", run_name(group, *run)}};
      if (run->environment.is_object()) row.update(run->environment);
      row.erase("command");  // it has a section of its own
      rows.push_back(row);
    }
  }
  return table_of("Where each run ran", rows).html();
}

std::string commands_section(const std::vector<RunGroup>& groups, const std::string& command) {
  const auto entry = [](const std::string& what, const std::string& text) {
    return fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", xml_escaped(what),
                       xml_escaped(text));
  };
  std::string out = "<dl class=\"commands\">\n" + entry("this page", command);
  std::set<std::string> sweeps;
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      if (!run->sweep_command.empty() && sweeps.insert(run->sweep_command).second)
        out += entry("the sweep", run->sweep_command);
    }
  }
  for (const RunGroup& group : groups) {
    for (const RunRecord* run : group.runs) {
      const std::string given = text_of(run->environment, "command");
      const std::string name = run_name(group, *run);
      if (!given.empty()) out += entry(name, given);
      // The resolved file holds all settings, so this holds for any run.
      out += entry(name + (given.empty() ? "" : ", again"),
                   fmt::format("shellgame train '{}/experiment.toml' --run NEW", run->directory));
    }
  }
  return out + "</dl>\n";
}

std::string html_page(const std::vector<RunRecord>& runs, const std::string& command) {
  const std::vector<RunGroup> groups = groups_of(runs);
  const Section sections[] = {
      {"runs", "Runs", overview_section(groups)},
      {"training", "Training", training_section(groups)},
      {"evaluation", "Evaluation", evaluation_section(groups)},
      {"inside", "Inside the models", probes_section(groups)},
      {"configuration", "Configuration", configuration_section(runs, groups)},
      {"environment", "Environment", environment_section(groups)},
      {"commands", "Commands", commands_section(groups, command)},
  };
  const std::string title = title_of(runs);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<meta "
      "name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"generator\" "
      "content=\"shellgame\"/>\n<title>{0} - shellgame "
      "report</title>\n<style>\n{1}</style>\n</head>\n"
      "<body>\n<header><h1>{0}</h1>\n<p>{2}</p>\n<nav aria-label=\"Sections\"><ul>",
      xml_escaped(title), kPageStyle, xml_escaped(lead_of(runs, groups)));
  for (const Section& section : sections) {
    if (section.body.empty()) continue;
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
  }
  out += "</ul></nav></header>\n<main>\n";
  for (const Section& section : sections) {
    if (section.body.empty()) continue;
    out += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id,
                       section.title, section.body);
  }
  return out + fmt::format(
                   "</main>\n<div id=\"tip\" role=\"status\" hidden=\"hidden\"></div>\n<script>\n"
                   "//<![CDATA[\n{}//]]>\n</script>\n</body>\n</html>\n",
                   kPageScript);
}

}  // namespace shellgame
