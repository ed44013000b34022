// Runs the tool in a shell, as a user does.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace shellgame {

struct Result {
  int code;
  std::string output;  // standard output and error together
};

inline Result run(const std::string& arguments) {
  std::FILE* pipe = ::popen((SHELLGAME_TOOL " " + arguments + " 2>&1 < /dev/null").c_str(), "r");
  Result result{-1, ""};
  std::array<char, 4096> buffer;
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0)
    result.output.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace shellgame
