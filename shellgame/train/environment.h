// What a result depends on beside the experiment: program, machine, libraries.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace shellgame {

// Versions, commit, processor, cores, threads, instruction set, compiler, system, the time of the
// start, the command.
nlohmann::ordered_json environment_record();

// Where two records differ in what decides the numbers of a run: "simd was "AVX2" and is "AVX3"".
std::vector<std::string> environment_differences(const nlohmann::ordered_json& before,
                                                 const nlohmann::ordered_json& now);

}  // namespace shellgame
