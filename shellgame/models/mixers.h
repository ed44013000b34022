// The mixers that come with shellgame, one file each. A new one of ours gets a line here and in
// mixer.cpp; one of others calls register_mixer.
#pragma once

#include "shellgame/models/mixer.h"

namespace shellgame {

MixerEntry delta_net_mixer();

}  // namespace shellgame
