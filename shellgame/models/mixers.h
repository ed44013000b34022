// The mixers that come with shellgame, one file each. A new one of ours gets a line here and in
// mixer.cpp; one of others calls register_mixer.
#pragma once

#include "shellgame/models/mixer.h"

namespace shellgame {

MixerEntry attention_mixer();
MixerEntry delta_net_mixer();
MixerEntry delta_product_mixer();
MixerEntry gated_delta_net_mixer();
MixerEntry gru_mixer();
MixerEntry tanh_rnn_mixer();
MixerEntry kda_mixer();
MixerEntry lstm_mixer();
MixerEntry mamba2_mixer();
MixerEntry normalised_delta_mixer();
MixerEntry rwkv7_mixer();
MixerEntry slstm_mixer();
MixerEntry two_sided_mixer();

}  // namespace shellgame
