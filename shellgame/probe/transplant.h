// A head is given what it remembers of another trace: does the model then answer as that trace
// would? The strongest evidence that a head's state holds the values.
#pragma once

#include <cstdint>
#include <vector>

#include "shellgame/probe/heads.h"

namespace shellgame {

// Of the first reveals after a transplant for which the model's answer in the other trace's state
// differs from its own: the share that follows the other trace, and the share that stays.
struct Transplant {
  HeadPlace place;
  double follows = 0, stays = 0;
  std::uint64_t questions = 0;
};
// Between each trace and the next, after `places` commands of each.
std::vector<Transplant> transplant_states(const Model& model,
                                          const std::vector<WholeEpisode>& traces,
                                          const std::vector<HeadPlace>& heads, std::size_t places);

}  // namespace shellgame
