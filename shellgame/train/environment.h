// What a result depends on beside the experiment: program, machine, libraries.
#pragma once

#include <nlohmann/json.hpp>

namespace shellgame {

// Versions, processor, cores, threads, instruction set, compiler, system, the time of the start,
// the command.
nlohmann::ordered_json environment_record();

}  // namespace shellgame
