// `shellgame tables` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shellgame/system/files.h"
#include "tests/system/scratch.h"
#include "tests/tool/run_tool.h"

namespace shellgame {
namespace {

using testing::HasSubstr;

TEST(TablesTool, AStaleTableIsNamedByCheckAndMadeAnewOtherwise) {
  const ScratchFolder folder;
  const std::string page = folder / "page.md";
  write_file(folder / "r.json", R"([{"x": 0.5}])");
  const std::string stale =
      "one\n<!-- table\nsource = 'r.json'\ncolumns = [{head = 'x', text = '{x}'}]\n-->\n"
      "| x |\n| --- |\n| .4 |\n<!-- end table -->\ntwo\n";
  write_file(page, stale);
  const Result checked = run("tables --check " + page);
  EXPECT_EQ(checked.code, 1);
  EXPECT_THAT(checked.output, HasSubstr("page.md:2"));
  EXPECT_EQ(read_file(page), stale);
  EXPECT_EQ(run("tables " + page).code, 0);
  EXPECT_THAT(read_file(page), HasSubstr("| .500 |\n<!-- end table -->\ntwo\n"));
  EXPECT_EQ(run("tables --check " + page).code, 0);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"page.md", "r.json"}));  // nothing is left
}

TEST(TablesTool, ASourceThatIsNotThereIsRefusedAndThePageStays) {
  const ScratchFolder folder;
  const std::string text = "<!-- table\nsource = 'no.json'\n-->\n<!-- end table -->\n";
  write_file(folder / "page.md", text);
  const Result result = run("tables " + (folder / "page.md"));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.output, HasSubstr("page.md:1: "));
  EXPECT_EQ(read_file(folder / "page.md"), text);
}

}  // namespace
}  // namespace shellgame
