// A plug-in: mixers, probes, losses and kinds of data in a shared library of another repository,
// used by the tool with --plugin FILE.so. One source file of it has
//
//   static void register_all() {
//     shellgame::register_mixer(my_mixer());  // shellgame/models/mixer.h
//     shellgame::register_probe(my_probe());  // shellgame/probe/probe.h
//   }
//   SHELLGAME_PLUGIN(register_all)
//
// and docs/plugins.md says how it is built. The tag is read from the file before anything of it
// runs: a plug-in for another version, LibTorch or compiler is refused.
#pragma once

#include "shellgame/models/plugin_tag.h"

// Kinds of data are registered in the same function, by what shellgame/episodes has for them.

#define SHELLGAME_PLUGIN(register_function)                                                        \
  extern "C" {                                                                                     \
  __attribute__((used, visibility("default"))) extern const char shellgame_plugin_interface[] =    \
      "shellgame plug-in: " SHELLGAME_INTERFACE;                                                   \
  __attribute__((visibility("default"))) void shellgame_plugin_register() { register_function(); } \
  }
