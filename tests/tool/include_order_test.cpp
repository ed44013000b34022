// The pipeline's order: a folder may include only itself and the folders to its left.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

// As in shellgame/CMakeLists.txt and ARCHITECTURE.md.
const std::vector<std::string> kOrder = {
    "text",   "system",   "random",  "groups",   "sequences", "programs", "tasks",  "replay",
    "tokens", "automata", "beliefs", "episodes", "tensors",   "evaluate", "report", "kernels",
    "ops",    "models",   "train",   "probe",    "figures",   "tool"};

// Backward includes of a file, as "file: folder".
std::vector<std::string> backward_includes(const std::filesystem::path& root) {
  std::vector<std::string> wrong;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string folder = entry.path().parent_path().filename().string();
    const auto own = std::ranges::find(kOrder, folder);
    if (own == kOrder.end()) {
      wrong.push_back(entry.path().string() + ": the folder has no place in the order");
      continue;
    }
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string prefix = "#include \"shellgame/";
      if (!line.starts_with(prefix)) continue;
      const std::string other =
          line.substr(prefix.size(), line.find('/', prefix.size()) - prefix.size());
      const auto included = std::ranges::find(kOrder, other);
      if (included == kOrder.end() || included > own)
        wrong.push_back(entry.path().string() + ": " + other);
    }
  }
  return wrong;
}

TEST(IncludeOrder, NoFolderIncludesOneToItsRight) {
  EXPECT_EQ(backward_includes(SHELLGAME_SOURCE_DIR "/shellgame"), std::vector<std::string>());
}

TEST(IncludeOrder, ABackwardIncludeIsFound) {
  const ScratchFolder folder;
  const std::filesystem::path root = folder.path();
  std::filesystem::create_directories(root / "groups");
  std::ofstream(root / "groups" / "wrong.h") << "#include \"shellgame/tokens/shard.h\"\n";
  EXPECT_EQ(backward_includes(root).size(), 1u);
}

}  // namespace
}  // namespace shellgame
