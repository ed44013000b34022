// Evaluation against the bare model: the same tokens by segments through Model::logits, in turns.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "shellgame/episodes/trace_source.h"
#include "shellgame/models/model_predictor.h"
#include "shellgame/system/messages.h"
#include "shellgame/tool/bench_model.h"

namespace shellgame {

BenchJson bench_evaluation(int rounds) {
  const at::NoGradGuard no_gradients;
  const auto tokenizer = open_tokenizer("lexeme");
  constexpr std::int64_t kRows = 16, kSegment = 512;
  const Options::Json keys = {{"model_type", "delta_net"},
                              {"allow_neg_eigval", true},
                              {"hidden_size", 64},
                              {"num_hidden_layers", 2},
                              {"num_heads", 2},
                              {"intermediate_size", 160},
                              {"vocab_size", tokenizer->vocabulary_size()}};
  const Model model{ModelConfig(keys)};
  BenchJson list = BenchJson::array();
  for (const std::uint64_t spacing : {1, 8, 64}) {
    Task task;
    task.commands = 512;
    task.spacing = spacing;
    const TraceSource rows(task, *tokenizer, {.seed = 1});
    // All traces of this task are equally long.
    std::vector<std::vector<std::uint32_t>> traces(kRows);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const auto row = rows.episode(i);
      for (Piece piece; row->next(piece, 4096);) {
        traces[i].insert(traces[i].end(), piece.ids.begin(), piece.ids.end());
      }
    }
    const auto time = static_cast<std::int64_t>(traces[0].size());
    at::Tensor ids = at::empty({kRows, time}, at::kLong);
    for (std::int64_t i = 0; i < kRows; ++i) {
      std::copy(traces[static_cast<std::size_t>(i)].begin(),
                traces[static_cast<std::size_t>(i)].end(), ids.data_ptr<std::int64_t>() + i * time);
    }
    const auto judge = [&](EvaluationMode mode) {
      evaluate(model, rows, 0, kRows, {.mode = mode, .rows = kRows, .slice = kSegment});
    };
    const std::vector<double> seconds = take_turns(
        rounds, {[&] {
                   ModelState state;
                   for (std::int64_t from = 0; from < time; from += kSegment) {
                     const std::int64_t size = std::min(kSegment, time - from);
                     model.logits(ids.narrow(1, from, size).contiguous(), &state);
                   }
                 },
                 [&] { judge(EvaluationMode::kTeacher); }, [&] { judge(EvaluationMode::kFree); }});
    const auto tokens = static_cast<double>(kRows * time);
    say("bench: evaluating with spacing {}: {:.0f} tokens/s, {:.2f} of the bare model's; "
        "free-running {:.2f}",
        spacing, tokens / seconds[1], seconds[0] / seconds[1], seconds[0] / seconds[2]);
    list.push_back({{"spacing", spacing},
                    {"commands", task.commands},
                    {"rows", kRows},
                    {"segment", kSegment},
                    {"tokens", kRows * time},
                    {"logits_tokens_per_second", tokens / seconds[0]},
                    {"teacher_tokens_per_second", tokens / seconds[1]},
                    {"free_tokens_per_second", tokens / seconds[2]},
                    {"teacher_to_logits", seconds[0] / seconds[1]},
                    {"free_to_logits", seconds[0] / seconds[2]}});
  }
  return list;
}

}  // namespace shellgame
