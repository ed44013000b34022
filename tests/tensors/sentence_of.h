// The sentence of an expected error.
#pragma once

#include <string>

#include "shellgame/text/error.h"

namespace shellgame {

// What `work` throws, without the directory's name, or "no error".
template <class Work>
std::string sentence_of(const std::string& directory, Work work) {
  try {
    work();
  } catch (const Error& error) {
    std::string text = error.what();
    for (std::size_t at;
         !directory.empty() && (at = text.find(directory + "/")) != std::string::npos;)
      text.erase(at, directory.size() + 1);
    return text;
  }
  return "no error";
}

}  // namespace shellgame
