// The probes that come with the library, each a function of its own file. A new one gets its name
// here, twice; one of others calls register_probe.
#pragma once

#include <cstddef>
#include <vector>

#include "shellgame/probe/probe.h"

namespace shellgame {

ProbeEntry betas_probe();      // betas.cpp
ProbeEntry cycle_probe();      // cycle.cpp
ProbeEntry intervene_probe();  // intervene.cpp
ProbeEntry keys_probe();       // keys.cpp
ProbeEntry state_probe();      // state.cpp
ProbeEntry tracker_probe();    // tracker.cpp

inline std::vector<ProbeEntry> built_in_probes() {
  return {betas_probe(), cycle_probe(), intervene_probe(),
          keys_probe(),  state_probe(), tracker_probe()};
}

// The setting `places` of probes that read states: commands of each trace.
inline std::size_t asked_places(const ProbeQuestion& question) {
  return question.settings.value("places", std::size_t{12});
}

}  // namespace shellgame
