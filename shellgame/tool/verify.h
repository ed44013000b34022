// The report of a replay, for all subcommands that verify traces.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "shellgame/replay/replay.h"

namespace shellgame {

// Where a report goes: it is the answer, or it is said beside another one.
enum class ReplayPlace { kOutput, kMessages };

// Prints the report; throws Error if anything differed.
void report_replay(const ReplayReport& report, const std::string& format, ReplayPlace to);
// --python and --doctest-every.
void add_replay_options(CLI::App* command, ReplayOptions& replay);

}  // namespace shellgame
