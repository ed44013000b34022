#include "shellgame/tool/plugins.h"

#include "shellgame/tool/learn_commands.h"

namespace shellgame {

void add_plugin_option(CLI::App* command, std::vector<std::string>& files) {
  command
      ->add_option("--plugin", files,
                   "a shared library with mixers, probes, losses or kinds of data of others "
                   "(docs/plugins.md); may be given several times")
      ->type_name("FILE.so")
      ->allow_extra_args(false);
}

void use_plugins(const std::vector<std::string>& files) {
  if (!files.empty()) learn_commands().load_plugins(files);
}

}  // namespace shellgame
