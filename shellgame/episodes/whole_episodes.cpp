#include "shellgame/episodes/whole_episodes.h"

#include <fmt/format.h>

#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// What an episode is kept as: sources, state and belief of every step, and the tokens.
std::uint64_t bytes_of(const Source& source) {
  const std::uint64_t n = source.variables(),
                      steps = source.length() > 0 ? source.length() : source.tokens(),
                      step = sizeof(Step) + 4 * n + sizeof(double) * n * n;
  return saturating_add(saturating_multiply(steps, step),
                        saturating_multiply<std::uint64_t>(source.tokens(), 9));
}

}  // namespace

WholeEpisodes::WholeEpisodes(std::unique_ptr<Source> source, std::uint64_t count, bool needs_steps)
    : source_(std::move(source)) {
  if (needs_steps && source_->variables() == 0)
    wrong_use(
        "this probe needs steps that move values between variables, and '{}' has none: betas and "
        "intervene take any data",
        source_->name());
  require_memory(saturating_multiply(count, bytes_of(*source_)),
                 fmt::format("{} traces of {} tokens", count, source_->tokens()));
  all_.resize(count);
  parallel_for(count, [&](std::size_t i) {
    Piece piece;
    source_->whole(i, piece);
    if (piece.kinds.empty()) piece.kinds.assign(piece.ids.size(), TokenKind::kOther);
    all_[i] = {.ids = {piece.ids.begin(), piece.ids.end()},
               .kinds = std::move(piece.kinds),
               .steps = std::move(piece.steps),
               .questions = std::move(piece.questions)};
  });
}

}  // namespace shellgame
