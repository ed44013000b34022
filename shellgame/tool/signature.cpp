// `shellgame signature`: one number that sums up what the program does.
#include "shellgame/episodes/signature.h"

#include "shellgame/system/messages.h"
#include "shellgame/tool/command.h"

namespace shellgame {

void add_signature(CLI::App& app) {
  add_command(
      app, "signature",
      "Print one number that sums up seeded traces, beliefs, lexemes and sequences: if it changes, "
      "behaviour has changed.",
      {"shellgame signature"}, [] { print_lines("{:016x}\n", signature()); });
}

}  // namespace shellgame
