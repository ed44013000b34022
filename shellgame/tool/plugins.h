// --plugin, of the commands that run models.
#pragma once

#include <string>
#include <vector>

#include "shellgame/tool/command.h"

namespace shellgame {

// --plugin FILE.so, once or more.
void add_plugin_option(CLI::App* command, std::vector<std::string>& files);
// Loads them, and the library of models before the first one.
void use_plugins(const std::vector<std::string>& files);

}  // namespace shellgame
