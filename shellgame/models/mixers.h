// The mixers that come with shellgame, one file each. A new one of ours gets its name here, twice;
// one of others calls register_mixer.
#pragma once

#include <vector>

#include "shellgame/models/mixer.h"

namespace shellgame {

MixerEntry attention_mixer();
MixerEntry delta_net_mixer();
MixerEntry delta_product_mixer();
MixerEntry gated_delta_net_mixer();
MixerEntry gru_mixer();
MixerEntry kda_mixer();
MixerEntry lstm_mixer();
MixerEntry mamba2_mixer();
MixerEntry normalised_delta_mixer();
MixerEntry rwkv7_mixer();
MixerEntry slstm_mixer();
MixerEntry tanh_rnn_mixer();
MixerEntry two_sided_mixer();

inline std::vector<MixerEntry> built_in_mixers() {
  return {attention_mixer(),
          delta_net_mixer(),
          delta_product_mixer(),
          gated_delta_net_mixer(),
          gru_mixer(),
          kda_mixer(),
          lstm_mixer(),
          mamba2_mixer(),
          normalised_delta_mixer(),
          rwkv7_mixer(),
          slstm_mixer(),
          tanh_rnn_mixer(),
          two_sided_mixer()};
}

}  // namespace shellgame
