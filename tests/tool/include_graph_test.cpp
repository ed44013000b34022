// The rooms, that is the folders of shellgame/: each includes what it declares, and declares what
// it includes (cmake/rooms.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/scratch.h"

namespace shellgame {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Room {
  std::string name;
  std::set<std::string> needs;
};

// "beliefs: text groups", a room a line.
std::vector<Room> read_rooms(const std::filesystem::path& path) {
  std::vector<Room> rooms;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Room room{.name = line.substr(0, line.find(':')), .needs = {}};
    std::istringstream needs(line.substr(line.find(':') + 1));
    for (std::string need; needs >> need;) room.needs.insert(need);
    rooms.push_back(std::move(room));
  }
  return rooms;
}

// Rooms by the files' folders; the files that include another room, as "room: other".
std::map<std::string, std::set<std::string>> includes_of(const std::filesystem::path& root) {
  std::map<std::string, std::set<std::string>> included;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string room = entry.path().parent_path().filename().string();
    std::set<std::string>& others = included[room];
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string prefix = "#include \"shellgame/";
      if (!line.starts_with(prefix)) continue;
      const std::size_t slash = line.find('/', prefix.size());
      const std::string other = line.substr(prefix.size(), slash - prefix.size());
      if (other != room) others.insert(other);
    }
  }
  return included;
}

// What is wrong, one sentence each.
std::vector<std::string> faults(const std::vector<Room>& rooms, const std::filesystem::path& root) {
  std::vector<std::string> wrong;
  std::set<std::string> known;
  auto included = includes_of(root);
  for (const Room& room : rooms) {
    for (const std::string& need : room.needs) {
      if (!known.contains(need)) wrong.push_back(room.name + " needs " + need + ", a later room");
      if (!included[room.name].contains(need))
        wrong.push_back(room.name + " declares " + need + " and does not include it");
    }
    for (const std::string& other : included[room.name]) {
      if (!room.needs.contains(other))
        wrong.push_back(room.name + " includes " + other + " and does not declare it");
    }
    known.insert(room.name);
  }
  for (const auto& [folder, others] : included) {
    if (!known.contains(folder)) wrong.push_back(folder + " is no room");
  }
  return wrong;
}

TEST(IncludeGraph, RoomsIncludeWhatTheyDeclare) {
  const std::vector<Room> rooms = read_rooms(SHELLGAME_ROOMS);
  EXPECT_GT(rooms.size(), 20u);
  EXPECT_THAT(faults(rooms, SHELLGAME_SOURCE_DIR "/shellgame"), IsEmpty());
}

TEST(IncludeGraph, WhatIsNotAsDeclaredIsFound) {
  const ScratchFolder folder;
  const std::filesystem::path root = folder.path();
  for (const char* room : {"groups", "tokens", "attic"})
    std::filesystem::create_directories(root / room);
  std::ofstream(root / "groups" / "wrong.h") << "#include \"shellgame/tokens/shard.h\"\n";
  std::ofstream(root / "attic" / "old.cpp") << "#include <vector>\n";
  EXPECT_THAT(faults({{"groups", {}}, {"tokens", {"groups", "traces"}}}, root),
              ElementsAre("groups includes tokens and does not declare it",
                          "tokens declares groups and does not include it",
                          "tokens needs traces, a later room",
                          "tokens declares traces and does not include it", "attic is no room"));
}

}  // namespace
}  // namespace shellgame
