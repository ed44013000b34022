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
      {"delta_net_hybrid",
       with({{"model_type", "delta_net"},
             {"attn", {{"layers", {1}}, {"num_heads", 4}, {"window_size", 7}}}})},
      {"gated_delta_net",
       with({{"model_type", "gated_deltanet"}, {"head_dim", 8}, {"num_v_heads", 4}})},
      {"delta_product", with({{"model_type", "gated_deltaproduct"},
                              {"head_dim", 8},
                              {"num_householder", 3},
                              {"use_forget_gate", true},
                              {"allow_neg_eigval", true}})},
      {"kda", with({{"model_type", "kda"}, {"head_dim", 8}, {"allow_neg_eigval", true}})},
      {"two_sided", with({{"model_type", "shellgame_two_sided"}, {"head_dim", 6}})},
      {"two_sided_swaps", with({{"model_type", "shellgame_two_sided"},
                                {"head_dim", 4},
                                {"value_dim", 5},
                                {"mixture", "swaps"}})},
      {"attention", with({{"model_type", "transformer"},
                          {"num_heads", 4},
                          {"num_kv_heads", 2},
                          {"qk_norm", true}})},
      {"attention_window", with({{"model_type", "transformer"}, {"window_size", 9}})},
      {"lstm", with({{"model_type", "shellgame_lstm"}})},
      {"gru", with({{"model_type", "shellgame_gru"}, {"cell_size", 20}})},
      {"tanh_rnn", with({{"model_type", "shellgame_tanh_rnn"}, {"cell_size", 20}})},
      {"slstm", with({{"model_type", "shellgame_slstm"}})},
      {"mamba2", with({{"model_type", "mamba2"},
                       {"head_dim", 12},
                       {"num_heads", 4},
                       {"state_size", 10},
                       {"n_groups", 2}})},
      {"rwkv7", with({{"model_type", "rwkv7"}, {"head_dim", 12}})},
      {"normalised_delta",
       with({{"model_type", "shellgame_normalised_delta"}, {"renormalise_every", 5}})},
      {"hybrid",
       with({{"model_type", "shellgame_hybrid"},
             {"layers", {"delta_net", {{"mixer", "lstm"}, {"cell_size", 16}}, "attention"}}})},
  };
}

}  // namespace shellgame
