#include "shellgame/episodes/data.h"

#include <algorithm>

#include "shellgame/system/saturating.h"
#include "shellgame/text/error.h"

namespace shellgame {

std::uint64_t Data::segment_tokens(const Tokenizer*) const {
  wrong_use("streams are for data that go on, and these end (traces and counters go on)");
}

std::unique_ptr<Source> Data::stream(const Tokenizer*, const SourceOptions&, std::uint64_t) const {
  wrong_use("streams are for data that go on, and these end (traces and counters go on)");
}

bool Data::beliefs_are_cheap(std::uint64_t, std::string&) const { return true; }

std::string decoding_tokenizer(const Data& data, const std::string& named) {
  if (!data.ids_are_text()) wrong_use("the ids of these data stand for no text");
  const std::string own = data.tokenizer();
  if (named.empty()) return own.empty() ? "lexeme" : own;
  const auto is_file = [](const std::string& name) { return name != "lexeme" && name != "bytes"; };
  if (!own.empty() && own != named && !(is_file(own) && is_file(named)))
    wrong_use("the ids of these data are those of the tokenizer '{}', not of '{}'", own, named);
  return named;
}

StreamSources stream_sources(const std::vector<SharedData>& data, const Tokenizer* tokenizer,
                             const SourceOptions& options, std::uint64_t segments) {
  StreamSources result;
  for (const SharedData& one : data)
    result.segment_tokens = std::max(result.segment_tokens, one->segment_tokens(tokenizer));
  const std::uint64_t tokens = saturating_multiply(segments, result.segment_tokens);
  for (const SharedData& one : data)
    result.sources.push_back(
        one->stream(tokenizer, options, saturating_add<std::uint64_t>(tokens, 1)));
  return result;
}

}  // namespace shellgame
