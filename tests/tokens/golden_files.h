// Reads the recorded results of Hugging Face's library under tests/data.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "shellgame/system/files.h"

namespace shellgame {

inline std::string data_path(const std::string& name) { return SHELLGAME_TEST_DATA "/" + name; }

// The content of a file packed by xz.
inline std::string unpack(const std::string& path) {
  std::FILE* pipe = popen(("xz -dc '" + path + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("xz did not start");
  std::string content;
  char buffer[65536];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    content.append(buffer, count);
  if (pclose(pipe) != 0) throw std::runtime_error("xz -dc failed on " + path);
  return content;
}

inline std::vector<nlohmann::json> json_lines(const std::string& content) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(content);
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline const std::string& qwen3_json() {
  static const std::string content = unpack(data_path("qwen3-tokenizer/tokenizer.json.xz"));
  return content;
}

}  // namespace shellgame
