#include "shellgame/tokens/token_maker.h"

namespace shellgame {

TokenMaker::TokenMaker(const Sampler& sampler, const Tokenizer& tokenizer)
    : tokenizer_(tokenizer), text_(sampler) {
  if (!tokenizer.lines_are_independent()) return;
  lines_.emplace(sampler.names(), sampler.shared_table(),
                 [&tokenizer](std::string_view text, std::vector<std::uint32_t>& ids,
                              std::vector<std::uint32_t>* offsets) {
                   if (offsets != nullptr) {
                     tokenizer.encode_with_offsets(text, ids, *offsets);
                   } else {
                     tokenizer.encode(text, ids);
                   }
                 });
}

void TokenMaker::make(std::uint64_t seed, std::uint64_t index, TokenTrace& out,
                      bool with_reveals) const {
  out.ids.clear();
  out.reveals.clear();
  if (lines_) {
    sampler().sample(seed, index, out.trace.program);
    std::uint64_t commands = 0, environment = 0;
    lines_->append(out.trace.program, out.ids, commands, environment,
                   with_reveals ? &out.reveals : nullptr);
    return;
  }
  text_.make(seed, index, out.trace, with_reveals);
  std::vector<std::uint32_t> ids, offsets;
  tokenizer_.encode_with_offsets(out.trace.text.view(), ids, offsets);
  out.ids.append(ids);
  if (!with_reveals) return;
  out.reveals = out.trace.reveals;
  marks_in_units(out.reveals, offsets);
}

}  // namespace shellgame
