// What a source is made of, before there is a tokenizer or a seed: a task with its lengths, a kind
// of sequences, a file. Options and experiments are read into it; who trains, evaluates or probes
// asks it for sources and does not ask what it is.
#pragma once

#include <memory>
#include <string>

#include "shellgame/episodes/source.h"
#include "shellgame/tokens/tokenizer.h"

namespace shellgame {

class Data {
 public:
  virtual ~Data() = default;
  // Whether its tokens are a tokenizer's. The others have a vocabulary of their own.
  virtual bool is_text() const = 0;
  // `tokenizer` is null for data that are no text, and must outlive the source.
  virtual std::unique_ptr<Source> source(const Tokenizer* tokenizer,
                                         const SourceOptions& options) const = 0;
  // Whether the ids stand for text, whatever made them; and what did, as open_tokenizer() takes it,
  // where data that are no text say it.
  virtual bool ids_are_text() const { return is_text(); }
  virtual std::string tokenizer() const { return ""; }
  // Whether an episode may be as long as one likes, so that there are streams of them.
  virtual bool goes_on() const { return false; }
  // Streams: the tokens of a segment that is as long as these data without their start, and a
  // source whose episodes have at least so many tokens. Throw UsageError for data that do not go
  // on.
  virtual std::uint64_t segment_tokens(const Tokenizer* tokenizer) const;
  virtual std::unique_ptr<Source> stream(const Tokenizer* tokenizer, const SourceOptions& options,
                                         std::uint64_t tokens) const;
  // Data of one family have rows that begin alike, so that what is shared needs to be read once;
  // empty: of no family.
  virtual std::string family() const { return ""; }
  // Empty, or why an episode asks nothing: "spacing 8 is more than 4 commands, so nothing is
  // revealed".
  virtual std::string silence() const { return ""; }
  // Whether exact beliefs of so many episodes are affordable. `sentence` says why not.
  virtual bool beliefs_are_cheap(std::uint64_t episodes, std::string& sentence) const;
};
using SharedData = std::shared_ptr<const Data>;

// What the ids of these data are decoded by: the tokenizer that was named (empty: none was), else
// the one that the data name, else lexemes. Throws UsageError where a file says that its ids stand
// for no text, or are another tokenizer's (a tokenizer.json may have moved since).
std::string decoding_tokenizer(const Data& data, const std::string& named);

// The longest segment of several data, and what a stream of such segments reads.
struct StreamSources {
  std::uint64_t segment_tokens = 0;
  std::vector<std::shared_ptr<const Source>> sources;
};
StreamSources stream_sources(const std::vector<SharedData>& data, const Tokenizer* tokenizer,
                             const SourceOptions& options, std::uint64_t segments);

}  // namespace shellgame
