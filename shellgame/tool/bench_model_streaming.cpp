// Streaming: tokens a second and bytes of what is remembered, along one long sequence.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "shellgame/system/messages.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/tool/bench_model.h"

namespace shellgame {

BenchJson bench_streaming(std::int64_t tokens) {
  using Clock = std::chrono::steady_clock;
  const at::NoGradGuard no_gradients;
  const std::int64_t vocabulary = LexemeTokenizer().vocabulary_size();
  BenchJson list = BenchJson::array();
  const Options::Json models[] = {{{"model_type", "delta_net"}, {"allow_neg_eigval", true}},
                                  {{"model_type", "shellgame_lstm"}},
                                  {{"model_type", "transformer"}, {"window_size", 64}}};
  // One token at a time is dear; segments of 512 show the rate of a long evaluation.
  for (Options::Json keys : models) {
    keys.update({{"hidden_size", 64},
                 {"num_hidden_layers", 2},
                 {"num_heads", 2},
                 {"intermediate_size", 160},
                 {"vocab_size", vocabulary}});
    const Model model{ModelConfig(keys)};
    for (const std::int64_t segment : {std::int64_t{1}, std::int64_t{512}}) {
      // Token by token all the way for DeltaNet; the others show it with a tenth.
      const bool all = segment > 1 || keys.at("model_type") == "delta_net";
      const std::int64_t last = all ? tokens : std::max<std::int64_t>(1000, tokens / 10);
      ModelState state;
      RandomStream numbers(2, 0);
      BenchJson points = BenchJson::array();
      std::int64_t done = 0;
      for (std::int64_t goal = 1000; goal <= last; goal *= 10) {
        const std::int64_t begin = done;
        const auto start = Clock::now();
        while (done < goal) {
          const std::int64_t size = std::min(segment, goal - done);
          at::Tensor ids = at::empty({1, size}, at::kLong);
          for (std::int64_t i = 0; i < size; ++i) {
            ids.data_ptr<std::int64_t>()[i] = numbers.below(static_cast<std::uint32_t>(vocabulary));
          }
          model.logits(ids, &state);
          done += size;
        }
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        points.push_back({{"tokens", done},
                          {"tokens_per_second", static_cast<double>(done - begin) / seconds},
                          {"state_bytes", state.bytes()}});
      }
      say("bench: streaming {} by {}: {:.0f} tokens/s at {}, {} bytes",
          keys.at("model_type").get<std::string>(), segment,
          points.back()["tokens_per_second"].get<double>(), done, state.bytes());
      list.push_back(
          {{"model_type", keys.at("model_type")}, {"segment", segment}, {"points", points}});
    }
  }
  return list;
}

}  // namespace shellgame
