// `shellgame tables`: makes the tables of pages anew from the files that hold the results.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shellgame/report/page_tables.h"
#include "shellgame/system/files.h"
#include "shellgame/system/messages.h"
#include "shellgame/text/error.h"
#include "shellgame/tool/command.h"

namespace shellgame {
namespace {

void make_tables(const std::vector<std::string>& pages, bool check) {
  std::vector<std::string> stale;
  for (const std::string& path : pages) {
    const std::string page = read_file(path);
    const PageTables made = remake_tables(page, path);
    stale.insert(stale.end(), made.stale.begin(), made.stale.end());
    if (!check && made.text != page) write_file(path, made.text);
    print_lines("{}: {} table{}, {} {}\n", path, made.tables, made.tables == 1 ? "" : "s",
                made.stale.size(), check ? "stale" : "changed");
  }
  if (check && !stale.empty())
    fail("tables must be what their sources say; stale: {} ('shellgame tables' makes them anew)",
         fmt::join(stale, ", "));
}

}  // namespace

void add_tables(CLI::App& app) {
  struct Options {
    std::vector<std::string> pages;
    bool check = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(
      app, "tables", "Make the tables of Markdown pages anew from files of results.",
      {"shellgame tables experiments/*/README.md", "shellgame tables --check README.md docs/*.md"},
      [options] { make_tables(options->pages, options->check); });
  command
      ->add_option("pages", options->pages, "pages with tables between markers (docs/formats.md)")
      ->type_name("FILE")
      ->required();
  command->add_flag("--check", options->check,
                    "change nothing; exit code 1 if a table is not what its source says");
}

}  // namespace shellgame
