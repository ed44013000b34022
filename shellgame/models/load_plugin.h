// Plug-ins: mixers, probes, losses and kinds of data of other repositories, in a shared library
// that the program loads (docs/plugins.md). Whoever writes one includes shellgame/models/plugin.h
// instead.
#pragma once

#include <string>
#include <vector>

namespace shellgame {

// Loads the file once and lets it register what it has. Throws UsageError, before anything of it
// has run, for a file that is no plug-in and for one that was built for another interface (both
// tags are named), and whatever its own registration throws.
void load_plugin(const std::string& file);
void load_plugins(const std::vector<std::string>& files);

// The tag of a plug-in's file, which is read and not run; empty: it has none. Throws Error if the
// file cannot be read.
std::string plugin_tag(const std::string& file);
// The tag that a plug-in must have here.
std::string own_plugin_tag();

}  // namespace shellgame
