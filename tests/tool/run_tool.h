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

// A script of sh, in which $tool is the tool.
inline Result run_script(const std::string& script) {
  const std::string whole = "tool=" SHELLGAME_TOOL "\nexec 2>&1 < /dev/null\n" + script + "\n";
  std::FILE* pipe = ::popen(whole.c_str(), "r");
  Result result{-1, ""};
  std::array<char, 4096> buffer;
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0)
    result.output.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

// `before`: what stands before the command, such as VARIABLE=VALUE.
inline Result run(const std::string& arguments, const std::string& before = "") {
  return run_script(before + "$tool " + arguments + " 2>&1 < /dev/null");
}

}  // namespace shellgame
