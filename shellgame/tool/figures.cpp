// `shellgame figures`: every figure of the paper with one command, as SVG, PDF and PNG, with the
// numbers behind it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "shellgame/figures/figure.h"
#include "shellgame/report/render.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/tool/command.h"
#include "shellgame/tool/figure_sources.h"
#include "shellgame/tool/load_library.h"

namespace shellgame {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kDefaultResults = "experiments";

struct Options {
  std::vector<std::string> names;
  FigureSourceOptions sources;
  std::string results;  // as given; "none" for none
  bool list = false, no_training = false;
  double dpi = 300;
};

void list_figures() {
  for (const FigureEntry& entry : all_figures())
    print_lines("{:<18}{}\n{:<18}{}\n", entry.name, entry.title, "",
                entry.needs.empty() ? "computed on the spot" : "needs " + entry.needs);
}

std::vector<const FigureEntry*> chosen(const std::vector<std::string>& names) {
  std::vector<const FigureEntry*> entries;
  for (const std::string& name : names) {
    if (name == "all") {
      entries.clear();
      for (const FigureEntry& entry : all_figures()) entries.push_back(&entry);
      return entries;
    }
    entries.push_back(&find_figure(name));
  }
  return entries;
}

// Of all figures, those whose results are not there.
void leave_out(std::vector<const FigureEntry*>& entries, const std::string& results) {
  std::erase_if(entries, [&](const FigureEntry* entry) {
    for (const std::string& file : entry->files) {
      if (fs::exists(results + "/uncertainty/" + file)) continue;
      say("note: '{}' is left out: it needs uncertainty/{}", entry->name, file);
      return true;
    }
    return false;
  });
}

std::string command_of(const Options& options, const std::string& name) {
  std::string text = "shellgame figures " + name;
  for (const std::string& runs : options.sources.runs) text += " --runs " + runs;
  if (!options.results.empty()) text += " --results " + options.results;
  return text + " --out " + options.sources.out;
}

// DIR/figures.json and DIR/README.md: all figures that are there, also those of earlier calls.
void write_index(const std::string& out, const Json& made) {
  const std::string path = out + "/figures.json";
  Json all = Json::object();
  if (fs::exists(path)) {
    all = parse_ordered_json(read_file(path), path);
    if (!all.is_object()) throw InputError(path, "the list of figures must be a JSON object");
  }
  all.update(made);
  std::string text =
      "# Figures\n\nMade by `shellgame figures`; each has its picture (SVG, PDF, PNG) and the "
      "numbers behind it (CSV), and names the command that made it.\n";
  Json ordered = Json::object();
  for (const FigureEntry& entry : all_figures()) {
    if (!all.contains(entry.name)) continue;
    const Json& one = ordered[entry.name] = all[entry.name];
    text += fmt::format("\n## {}\n\n![{}]({}.svg)\n\n{}\n\n`{}` ([CSV]({}.csv))\n", entry.title,
                        entry.title, entry.name, one.value("caption", std::string()),
                        one.value("command", std::string()), entry.name);
  }
  write_file(path, ordered.dump(1) + "\n");
  write_file(out + "/README.md", text);
}

void run(Options options) {
  if (options.list) return list_figures();
  if (options.names.empty()) wrong_use("figures must be named, or 'all' (see --list)");
  if (options.sources.out.empty()) wrong_use("--out DIR must be given: where the figures go");
  std::vector<const FigureEntry*> entries = chosen(options.names);
  options.sources.may_train = !options.no_training;
  if (options.results.empty()) {
    options.sources.results = fs::is_directory(kDefaultResults) ? kDefaultResults : "";
  } else if (options.results != "none") {
    options.sources.results = options.results;
  }
  for (const std::string& runs : options.sources.runs) {
    if (!fs::is_directory(runs)) wrong_use("--runs must be a directory, not '{}'", runs);
  }
  if (!options.sources.results.empty() && !fs::is_directory(options.sources.results))
    wrong_use("--results must be a directory or 'none', not '{}'", options.results);
  if (std::ranges::find(options.names, "all") != options.names.end())
    leave_out(entries, options.sources.results);
  const std::string& out = options.sources.out;
  std::error_code error;
  fs::create_directories(out, error);
  if (!fs::is_directory(out)) fail("cannot make the folder '{}'", out);
  const RenderFunction render = reinterpret_cast<RenderFunction (*)()>(load_library(
      "libshellgame_render.so", "shellgame_render", "it is built with the tool (needs librsvg)"))();
  ToolFigureSources sources(options.sources);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Json made = Json::object();
  for (const FigureEntry* entry : entries) {
    const double before = seconds();
    const Figure figure = entry->make(sources);
    const FigureMetadata metadata{.title = entry->title,
                                  .description = figure.caption,
                                  .command = command_of(options, entry->name)};
    const std::string svg = figure.canvas.svg(metadata);
    const Rendered rendered = render(svg, metadata, options.dpi);
    const std::string stem = fmt::format("{}/{}", out, entry->name);
    write_file(stem + ".svg", svg);
    write_file(stem + ".pdf", rendered.pdf);
    write_file(stem + ".png", rendered.png);
    write_file(stem + ".csv", figure.table.text());
    made[entry->name] = {
        {"title", entry->title}, {"caption", figure.caption}, {"command", metadata.command}};
    write_index(out, made);
    print_lines("{}.{{svg,pdf,png,csv}}: {} ({:.1f} s)\n", stem, entry->title, seconds() - before);
    flush_output();
  }
  print_lines("{} figure{} in {:.0f} s; captions in {}/README.md\n", entries.size(),
              entries.size() == 1 ? "" : "s", seconds(), out);
}

}  // namespace

void add_figures(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "figures",
      "The paper's figures, with measured numbers: SVG, PDF, PNG, and the CSV behind each.",
      {"shellgame figures all --out figures",
       "shellgame figures betas intervention --runs runs/s5 --out figures",
       "shellgame figures joint-instability marginal-decay --out figures",
       "shellgame figures --list"},
      [options] { run(*options); });
  command->add_option("names", options->names, "figures by name, or all")->type_name("NAME");
  command->add_option("-o,--output,--out", options->sources.out, "the folder for the figures")
      ->type_name("DIR");
  command
      ->add_option("--runs", options->sources.runs,
                   "a directory with finished runs (of train or sweep), at any depth; may be given "
                   "several times. What is not found there is trained small, in OUT/runs")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--results", options->results,
                   "published tables DIR/*/results.json, or none; by default experiments, if it is "
                   "there")
      ->type_name("DIR");
  command->add_flag("--no-training", options->no_training,
                    "fail where small runs would have to be trained");
  add_number(command, "--dpi", options->dpi, NumberBounds::real(50, 1200),
             "dots an inch of the PNG");
  command->add_flag("--list", options->list, "name the figures and what each needs");
}

}  // namespace shellgame
