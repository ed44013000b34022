// JSON and TOML are read in one place each, which knows the limits; nobody else calls the parsers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../system/scratch.h"

namespace shellgame {
namespace {

const std::vector<std::string> kCalls = {"json::parse(",     "Json::parse(", "json::accept(",
                                         "Json::accept(",    "sax_parse(",   "toml::parse(",
                                         "toml::parse_file("};
// These two read events, not a tree, and have limits of their own.
const std::vector<std::string> kReaders = {"text/read_json.cpp", "text/read_toml.cpp",
                                           "text/strict_json.cpp", "tokens/tokenizer_file.cpp"};

std::vector<std::string> other_readers(const std::filesystem::path& root) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string name = std::filesystem::relative(entry.path(), root).string();
    if (std::ranges::find(kReaders, name) != kReaders.end()) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      for (const std::string& call : kCalls) {
        if (line.find(call) != std::string::npos) found.push_back(name + ": " + call);
      }
    }
  }
  return found;
}

TEST(OneReader, OfJsonAndOneOfToml) {
  EXPECT_EQ(other_readers(SHELLGAME_SOURCE_DIR "/shellgame"), std::vector<std::string>());
}

TEST(OneReader, AnotherOneIsFound) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "tool");
  std::ofstream(folder / "tool/wrong.cpp") << "auto x = nlohmann::json::parse(text);\n";
  EXPECT_EQ(other_readers(folder.path()).size(), 1u);
}

}  // namespace
}  // namespace shellgame
