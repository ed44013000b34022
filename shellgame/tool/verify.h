// The report of a replay, for all subcommands that verify traces.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "shellgame/replay/replay.h"

namespace shellgame {

// Prints the report; throws Error if anything differed.
void report_replay(const ReplayReport& report, const std::string& format, std::FILE* to);
// --python and --doctest-every.
void add_replay_options(CLI::App* command, ReplayOptions& replay);

}  // namespace shellgame
