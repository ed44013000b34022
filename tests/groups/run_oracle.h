// Runs a Python script of the test tree with /usr/bin/python3 (Debian's, which has python3-sympy),
// hands it `request` in a file, and returns everything it printed, errors and exit code included.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace shellgame {

inline std::string run_oracle(const std::string& script, const std::string& request) {
  std::string path = testing::TempDir() + "oracle_XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return "cannot make " + path;
  std::FILE* file = fdopen(descriptor, "w");
  std::fwrite(request.data(), 1, request.size(), file);
  std::fclose(file);
  const std::string command =
      "/usr/bin/python3 '" SHELLGAME_SOURCE_DIR "/tests/" + script + "' '" + path + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, n);
  const int status = pclose(pipe);
  std::remove(path.c_str());
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    output += "\nexit status " + std::to_string(status);
  return output;
}

}  // namespace shellgame
