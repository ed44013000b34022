#include "contract_cases.h"

namespace shellgame {
namespace {

using Json = nlohmann::json;

Json with(Json changes) {
  Json config = {{"hidden_size", 24},       {"num_hidden_layers", 2}, {"num_heads", 2},
                 {"intermediate_size", 40}, {"vocab_size", 19},       {"initializer_range", 0.3}};
  config.update(changes);
  return config;
}

}  // namespace

std::vector<ContractCase> contract_cases() {
  return {
      {"delta_net", with({{"model_type", "delta_net"}, {"allow_neg_eigval", true}})},
      {"delta_net_plain", with({{"model_type", "delta_net"}, {"use_short_conv", false}})},
      {"delta_net_gate", with({{"model_type", "delta_net"},
                               {"use_gate", true},
                               {"expand_v", 2},
                               {"qk_activation", "elu"},
                               {"qk_norm", "sum"}})},
      {"delta_net_reflect", with({{"model_type", "delta_net"},
                                  {"use_beta", false},
                                  {"allow_neg_eigval", true},
                                  {"qk_activation", "identity"}})},
  };
}

}  // namespace shellgame
