// Two inline functions (or templates, or inline variables) of one name in one namespace are one to
// the linker, which keeps either body for both. Compilers see one file at a time and inlining hides
// it; this does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
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

// Without what stands between <>, from the first one on: "template <class D> int f(Vec<D> x)".
std::string without_brackets(const std::string& text) {
  std::string kept;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' && text[i > 0 ? i - 1 : i] != '<') ++depth;
    if (depth == 0) kept += text[i];
    if (text[i] == '>' && depth > 0) --depth;
  }
  return kept;
}

// "std::size_t width, const float* a" -> "std::size_t,const float*,": the types of parameters.
std::string types_of(const std::string& parameters) {
  static const std::regex name(R"(\s*\b\w+\s*(?:=.*)?$)");
  std::string types, one;
  const auto flush = [&] {
    if (one.find_first_not_of(' ') == std::string::npos) return;
    types += std::regex_replace(one, name, "") + ",";
    one.clear();
  };
  for (const char c : parameters) {
    if (c == ',') {
      flush();
    } else if (c != ' ' || !one.empty()) {
      one += c;
    }
  }
  flush();
  return types;
}

// The name (with its parameters' types) of what a declaration from the left margin defines, if
// several files may define it: "dot(std::size_t,const float*,const float*,)"; else "".
std::string shared_definition(const std::string& declaration, bool ends_in_body) {
  static const std::regex may_repeat(
      R"(^(?:template\b|(?:\w+ )*(?:inline|HWY_INLINE)\b|constexpr\b))");
  static const std::regex type(R"(\b(?:struct|class|enum|union|concept|using|friend|operator)\b)");
  static const std::regex variable(R"((\w+)\s*(?:=.*|\{.*|\[.*)?$)");
  if (!std::regex_search(declaration, may_repeat)) return "";
  if (declaration.starts_with("static ")) return "";
  const std::string text = without_brackets(declaration);
  if (std::regex_search(text, type)) return "";
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.find('=') < open) {
    if (text.find("inline ") == std::string::npos) return "";  // of one file, where it is constexpr
    std::smatch found;
    const std::string before = text.substr(0, text.find_first_of("=,{"));
    return std::regex_search(before, found, variable) ? found[1].str() : "";
  }
  if (!ends_in_body) return "";
  std::size_t begin = open;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) ||
                       text[begin - 1] == '_' || text[begin - 1] == ':'))
    --begin;
  const std::string name = text.substr(begin, open - begin);
  if (name.find("::") != std::string::npos) return "";  // of a class
  return name + "(" + types_of(text.substr(open + 1, text.rfind(')') - open - 1)) + ")";
}

// What more than one file defines inline at namespace level, outside unnamed namespaces.
std::vector<std::string> shared_inline_names(const std::filesystem::path& root) {
  static const std::regex opens(R"(^(?:inline )?namespace ?([\w:]*) ?\{)");
  static const std::regex closes(R"(^\}.*// ?namespace)");
  std::map<std::string, std::set<std::string>> places;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::vector<std::string> inside;
    std::string declaration;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (const std::size_t comment = line.find("// ");
          comment != std::string::npos && !std::regex_search(line, closes))
        line.resize(comment);
      std::smatch found;
      if (std::regex_search(line, found, opens)) {
        inside.push_back(found[1].length() > 0 ? found[1].str() : entry.path().string());
        continue;
      }
      if (std::regex_search(line, closes)) {
        if (!inside.empty()) inside.pop_back();
        continue;
      }
      const bool begins = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0]));
      if (declaration.empty() && !begins) continue;
      declaration += (declaration.empty() ? "" : " ") + line;
      const std::size_t end = declaration.find_first_of("{;");
      if (end == std::string::npos) continue;
      const std::string name =
          shared_definition(declaration.substr(0, end), declaration[end] == '{');
      declaration.clear();
      if (name.empty()) continue;
      std::string whole;
      for (const std::string& space : inside) whole += space + "::";
      places[whole + name].insert(entry.path().string());
    }
  }
  std::vector<std::string> shared;
  for (const auto& [name, files] : places) {
    if (files.size() > 1) shared.push_back(name);
  }
  return shared;
}

TEST(InlineNames, EachInlineDefinitionIsTheOnlyOneOfItsName) {
  EXPECT_THAT(shared_inline_names(SHELLGAME_SOURCE_DIR "/shellgame"), testing::IsEmpty());
}

TEST(InlineNames, ADefinitionThatIsThereTwiceIsFound) {
  const ScratchFolder folder;
  const std::filesystem::path root = folder.path();
  std::ofstream(root / "a.h") << R"(namespace n {
constexpr std::size_t row_distance(std::size_t width) {
  return width;
}
inline int declared(int x);
template <class D,
          class V = Vec<D>>
HWY_INLINE V twice(D d, V x) {
}
inline constexpr int kLanes = static_cast<int>(MaxLanes(D()));
constexpr int kOwn = 1;
inline int overloaded(int x) { return x; }
}  // namespace n
)";
  std::ofstream(root / "b.cpp") << R"(namespace n {
inline std::size_t row_distance(std::size_t other) {
  return other + 1;
}
inline int declared(int x) { return x; }
template <class D, class V>
HWY_INLINE V twice(D tag,
                   V value) {
}
inline constexpr std::int64_t kLanes = static_cast<std::int64_t>(MaxLanes(D()));
constexpr long kOwn = 2;
inline int overloaded(long x) { return x; }
}  // namespace n
)";
  std::ofstream(root / "c.cpp") << R"(namespace n {
namespace {
inline std::size_t row_distance(std::size_t width) {
  return width + 2;
}
inline constexpr int kLanes = 3;
}  // namespace
}  // namespace n
)";
  EXPECT_THAT(shared_inline_names(root),
              testing::ElementsAre("n::kLanes", "n::row_distance(std::size_t,)", "n::twice(D,V,)"));
}

}  // namespace
}  // namespace shellgame
