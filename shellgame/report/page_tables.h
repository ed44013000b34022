// Tables of results in pages of Markdown, made from the files that hold the results. A table stands
// between `<!-- table ... -->`, whose inside is TOML that says what it shows, and
// `<!-- end table -->` (docs/formats.md has the keys). What is inside of a fence (```) is left
// alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

struct PageTables {
  std::string text;                     // of the page, its tables made anew
  std::size_t tables = 0;               // how many there are
  std::vector<std::string> stale = {};  // places of those that have changed, "page:line"
};

// `path` is the page's: sources are named from its folder. Throws InputError with the place of a
// marker that cannot be read, or whose source cannot.
PageTables remake_tables(std::string_view page, const std::string& path);

// Places ("page:line") of tables outside of markers and fences whose cells, but for the first
// column, are numbers for the most part.
std::vector<std::string> unmarked_number_tables(std::string_view page, const std::string& path);

}  // namespace shellgame
