// Programs as pieces of episodes: questions where values are shown, steps where commands stand. For
// every source whose rows are traces.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "shellgame/episodes/source.h"
#include "shellgame/programs/render.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

class PieceMaker {
 public:
  // The tokenizer must outlive it, and the pieces must not outlive the maker.
  PieceMaker(const Tokenizer& tokenizer, std::shared_ptr<const Names> names)
      : tokenizer_(tokenizer), names_(std::move(names)) {}

  // Marks (in tokens) and ids as a piece. `beliefs` may be null, else has one for each mark that
  // shows a value; `asked`, if given, says of every event whether its values are asked for. Safe
  // from several threads.
  void fill(const Program& program, std::span<const RevealMark> marks,
            std::span<const std::uint32_t> ids, const std::vector<std::vector<double>>* beliefs,
            Piece& piece, const std::vector<bool>* asked = nullptr) const;
  // Steps and kinds of tokens of a whole trace, whose piece is filled. `states` are those after
  // each command; `index` is for sentences.
  void add_steps(const Program& program, std::span<const ValueId> states, std::uint64_t index,
                 bool with_beliefs, Piece& piece) const;

 private:
  // By kind, form and number of variables of the event, and the value's place in it: how a value is
  // cut into tokens may depend on what stands around it.
  using Context = std::tuple<EventKind, std::uint8_t, std::uint16_t, std::size_t>;
  // The values that could stand at a mark, as tokens.
  const ValueTree& values_at(const Program& program, const RevealMark& mark,
                             const Context& context) const;

  const Tokenizer& tokenizer_;
  std::shared_ptr<const Names> names_;
  mutable std::mutex mutex_;
  mutable std::map<Context, ValueTree> trees_;
};

}  // namespace shellgame
