#include "shellgame/models/mixer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "shellgame/models/mixers.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

std::map<std::string, MixerEntry>& entries() {
  static std::map<std::string, MixerEntry> all = [] {
    std::map<std::string, MixerEntry> own;
    for (const MixerEntry& entry : built_in_mixers()) own.emplace(entry.name, entry);
    return own;
  }();
  return all;
}

}  // namespace

bool MixerDeclaration::constant_memory() const {
  return std::ranges::none_of(remembers, [](const Remembered& one) {
    return one.kind == Remembered::Kind::kTokens && one.most == 0;
  });
}

bool MixerDeclaration::rows_are_apart() const {
  return !has(Remembered::Kind::kPosition) && !has(Remembered::Kind::kTokens);
}

bool MixerDeclaration::has(Remembered::Kind kind) const {
  return std::ranges::find(remembers, kind, &Remembered::kind) != remembers.end();
}

void register_mixer(MixerEntry entry) {
  const std::string name = entry.name;
  if (!entries().emplace(name, std::move(entry)).second) {
    wrong_use("a mixer's name must be new, and '{}' is taken", name);
  }
}

const MixerEntry& find_mixer(const std::string& name) {
  const auto found = entries().find(name);
  if (found == entries().end()) {
    wrong_use("a mixer must be one of {}, not '{}'", fmt::join(mixer_names(), ", "), name);
  }
  return found->second;
}

std::vector<std::string> mixer_names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries()) names.push_back(name);
  return names;
}

}  // namespace shellgame
