#include "shellgame/replay/examples.h"

#include <gtest/gtest.h>

#include <cstdio>

#include <nlohmann/json.hpp>

#include "shellgame/system/files.h"
#include "tests/replay/random_texts.h"
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

// For each text of a JSON list: what doctest's own parser makes of it, null if it refuses it.
constexpr char kDoctestParser[] = R"(
import doctest, json, sys
def cut(text):
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return None
    return [[e.lineno + 1, e.source, e.want] for e in found]
print(json.dumps([cut(text) for text in json.load(open(sys.argv[1]))]))
)";

nlohmann::json cut_by_doctest(const std::vector<std::string>& texts) {
  const ScratchFolder folder;
  write_file(folder / "texts.json", nlohmann::json(texts).dump());
  write_file(folder / "cut.py", kDoctestParser);
  const std::string command = "python3 '" + folder / "cut.py" + "' '" + folder / "texts.json" +
                              "' > '" + folder / "out" + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return nlohmann::json::parse(read_file(folder / "out"));
}

nlohmann::json cut_by_us(const std::string& text) {
  const CutText cut(text);
  if (cut.malformed()) return nullptr;
  nlohmann::json examples = nlohmann::json::array();
  for (const ReplayExample& example : cut.examples()) {
    std::string source(example.source);
    if (!source.ends_with('\n')) source += '\n';
    examples.push_back({example.line, source, std::string(example.want)});
  }
  return examples;
}

TEST(CutText, CutsRandomTextsAsDoctestsParserDoes) {
  std::vector<std::string> texts;
  RandomStream stream(5, 6);
  for (int i = 0; i < 5000; ++i) texts.push_back(random_text(stream));
  for (int i = 0; i < 5000; ++i) texts.push_back(prompt_soup(stream));
  // Tabs count characters, not bytes; white space that is not ASCII counts as such.
  for (const char* text :
       {"\u00e9\t>>> 1\n", "  >>> 1\n  \t1\n", "\r\t>>> 1\n\t1\n", " \u00a0x\n  >>> 1\n  1\n",
        "\U0001F600\t\u4e2d\t>>> 1\n", "  \u00e9\n  >>> 1\n", " \u3000\n  >>> 1\n  1"}) {
    texts.emplace_back(text);
  }
  const nlohmann::json theirs = cut_by_doctest(texts);
  ASSERT_EQ(theirs.size(), texts.size());
  std::size_t refused = 0, examples = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(cut_by_us(texts[i]), theirs[i]) << nlohmann::json(texts[i]);
    theirs[i].is_null() ? ++refused : examples += theirs[i].size();
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(examples, 5000u);
}

TEST(CutText, MovesWithItsText) {
  CutText cut(">>> 1\n1\n");  // short enough to lie inside a string
  const CutText moved = std::move(cut);
  EXPECT_EQ(moved.examples().at(0).source, "1");
  EXPECT_EQ(moved.examples().at(0).want, "1\n");
}

TEST(ExpectsException, ComparesTheLastLineAsDoctestDoes) {
  const std::string head = "Traceback (most recent call last):\n";
  EXPECT_TRUE(expects_exception(head + "  ...\nE: 1\n", "E: 1\n"));
  EXPECT_TRUE(expects_exception("Traceback (most recent call last): \u00a0\nE: 1\n", "E: 1\n"));
  EXPECT_TRUE(expects_exception("Traceback (innermost last):\n_E: 1\n2\n", "_E: 1\n2\n"));
  EXPECT_TRUE(expects_exception(head + "\u00c9\n", "\u00c9\n"));
  EXPECT_FALSE(expects_exception(head + "E: 2\n", "E: 1\n"));
  EXPECT_FALSE(expects_exception(head, "E: 1\n"));
  EXPECT_FALSE(expects_exception("E: 1\n", "E: 1\n"));
  EXPECT_FALSE(expects_exception("", ""));
}

}  // namespace
}  // namespace shellgame
