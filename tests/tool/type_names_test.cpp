// Two types of one name in one namespace are one type to the linker, which then takes either's
// functions for both. Compilers see one file at a time and do not tell; this does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>
#include "tests/system/scratch.h"

namespace shellgame {
namespace {

// Names of types that more than one file defines at namespace level, outside unnamed namespaces.
std::vector<std::string> shared_names(const std::filesystem::path& root) {
  static const std::regex opens(R"(^(?:inline )?namespace ?([\w:]*) ?\{)");
  static const std::regex closes(R"(^\}.*// ?namespace)");
  static const std::regex defines(
      R"(^(?:template <[^>]*> ?)?(?:struct|class|enum|enum class) (\w+)(?: final)?(?: ?:[^:;].*)?(?: \{.*)?$)");
  static const std::regex renames(R"(^using (\w+) =)");
  std::map<std::string, std::set<std::string>> places;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::vector<std::string> inside;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (std::regex_search(line, found, opens)) {
        inside.push_back(found[1].length() > 0 ? found[1].str() : entry.path().string());
      } else if (std::regex_search(line, closes)) {
        if (!inside.empty()) inside.pop_back();
      } else if (std::regex_search(line, found, defines) ||
                 (entry.path().extension() == ".h" && std::regex_search(line, found, renames))) {
        std::string name;
        for (const std::string& space : inside) name += space + "::";
        places[name + found[1].str()].insert(entry.path().string());
      }
    }
  }
  std::vector<std::string> shared;
  for (const auto& [name, files] : places) {
    if (files.size() > 1) shared.push_back(name);
  }
  return shared;
}

TEST(TypeNames, EachTypeHasANameOfItsOwn) {
  EXPECT_THAT(shared_names(SHELLGAME_SOURCE_DIR "/shellgame"), testing::IsEmpty());
}

TEST(TypeNames, ANameThatIsUsedTwiceIsFound) {
  const ScratchFolder folder;
  const std::filesystem::path root = folder.path();
  std::ofstream(root / "a.h") << "namespace n {\nstruct Cell {\n};\nstruct Later;\nusing Number = "
                                 "int;\n}  // namespace n\n";
  std::ofstream(root / "b.h") << "namespace n {\nclass Cell final : Base {\n};\nstruct "
                                 "Later;\nstruct Number {\n};\n}  // namespace n\n"
                              << "namespace m {\nstruct Cell {\n};\n}  // namespace m\n";
  std::ofstream(root / "c.cpp")
      << "namespace n {\nnamespace {\nstruct Cell {\n};\n}  // namespace\n}  // namespace n\n";
  EXPECT_THAT(shared_names(root), testing::ElementsAre("n::Cell", "n::Number"));
}

}  // namespace
}  // namespace shellgame
