// A directory whose files belong together: they appear together, and replace those of an earlier
// one together. Whoever looks, at any moment, finds all of the old ones or all of the new ones.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace shellgame {

struct DirectoryFiles {
  // Fills an empty directory. What it throws leaves everything as it was.
  std::function<void(const std::string& directory)> write;
  // Which files of an earlier directory the new ones take the place of, by name. All others are
  // somebody else's and stay.
  std::function<bool(std::string_view name)> replaces;
};

// Writes beside `directory`, puts it on the disk, then exchanges the two. Where the system cannot
// exchange (some network file systems, the root of a mounted one), files are renamed one by one:
// a reader then needs another way to tell a mixture (the identity of models/checkpoint.h). Throws
// Error.
void replace_directory(const std::string& directory, const DirectoryFiles& files);

}  // namespace shellgame
