#include "shellgame/tokens/bpe_tokenizer.h"

#include "shellgame/text/error.h"
#include "shellgame/text/utf8.h"
#include "shellgame/tokens/offsets.h"

namespace shellgame {

// Where ids go, and how a place in the text at hand leads back to the original.
struct BpeTokenizer::Output {
  std::vector<std::uint32_t>& ids;
  std::vector<std::uint32_t>* offsets;                  // null: not wanted
  std::size_t base = 0;                                 // where the part at hand begins
  const std::vector<std::uint32_t>* origins = nullptr;  // of its bytes; null: it was not changed

  std::uint32_t original(std::size_t place) const {
    return static_cast<std::uint32_t>(base + (origins != nullptr ? (*origins)[place] : place));
  }
  void put(std::uint32_t id, std::size_t offset) {
    ids.push_back(id);
    if (offsets != nullptr) offsets->push_back(static_cast<std::uint32_t>(offset));
  }
};

BpeTokenizer::BpeTokenizer(std::string_view json, std::string name)
    : name_(std::move(name)), file_(read_tokenizer_file(json, name_)) {
  const JsonField root(file_.rest, name_, "");
  if (!file_.rest.is_object()) throw InputError(name_, "the file must hold a JSON object");
  root.allow_keys({"version", "truncation", "padding", "added_tokens", "normalizer",
                   "pre_tokenizer", "post_processor", "decoder", "model"});
  const nlohmann::json null;
  const auto part = [&](std::string_view key) {
    const auto field = root.find(key);
    return field ? *field : JsonField(null, name_, std::string(key));
  };
  if (const JsonField version = part("version"); !version.is_null() && version.text() != "1.0")
    version.refuse("\"1.0\"");
  for (const char* key : {"truncation", "padding"})
    if (!part(key).is_null()) part(key).refuse("null");

  const JsonField model = root.at("model");
  if (!file_.has_vocabulary) model.at("vocab").refuse("an object");
  // Tables have one entry for each id, so a small file must not ask for large ones.
  const std::size_t most = 65536 + 16 * file_.tokens.size();
  vocabulary_ = StringIds(file_.tokens.size());
  for (std::size_t i = 0; i < file_.tokens.size(); ++i) {
    const std::string_view token = file_.tokens[i];
    if (!vocabulary_.add(token, file_.ids[i]))
      model.wrong(
          fmt::format("must have each token once in its vocab, but has \"{}\" twice", token));
    if (file_.ids[i] >= most)
      model.wrong(fmt::format("must have ids below {} for its {} tokens, but has {} for \"{}\"",
                              most, file_.tokens.size(), file_.ids[i], token));
    if (decoded_.has(file_.ids[i]))
      model.wrong(
          fmt::format("must have each id once in its vocab, but has {} twice, the second "
                      "time for \"{}\"",
                      file_.ids[i], token));
    decoded_.set(file_.ids[i], token);
  }
  normalizer_ = read_normalizer(part("normalizer"));
  pre_tokenizer_.emplace(read_pre_tokenizer(part("pre_tokenizer")));
  require_byte_level_decoder(part("decoder"));
  model_.emplace(read_model(model, file_, vocabulary_, decoded_));

  std::vector<AddedToken> original, normalized;
  for (AddedToken& token :
       read_added_tokens(part("added_tokens"), vocabulary_, file_.tokens.size())) {
    added_.emplace(token.content, token.id);
    if (token.normalized) token.content = normalizer_.apply(token.content, false).text;
    decoded_.set(token.id, token.content);
    if (token.content.empty()) continue;
    (token.normalized ? normalized : original).push_back(std::move(token));
  }
  original_tokens_ = AddedTokenFinder(std::move(original));
  normalized_tokens_ = AddedTokenFinder(std::move(normalized));

  const JsonField post_processor = part("post_processor");
  around_ = read_post_processor(post_processor);
  for (const auto* ids : {&around_.before, &around_.after})
    for (const std::uint32_t id : *ids)
      if (!decoded_.has(id))
        post_processor.wrong(fmt::format("must use ids of the vocabulary, but uses {}", id));
  file_.merges = {};  // now inside of the model
  file_.rest = nullptr;
}

// Cuts out the added tokens that `finder` finds, and gives what is between them to `between`.
template <class Put, class Between>
void cut_out(const AddedTokenFinder& finder, std::string_view text, Put put, Between between) {
  std::size_t done = 0;
  if (!finder.empty()) {
    for (const AddedTokenFinder::Found& found : finder.find(text)) {
      if (done < found.begin) between(done, found.begin);
      put(found.id, found.begin);
      done = found.end;
    }
  }
  if (done < text.size()) between(done, text.size());
}

void BpeTokenizer::encode_all(std::string_view text, Output& output) const {
  require_offsets_fit(text);
  if (const std::size_t wrong = find_invalid_utf8(text); wrong != std::string_view::npos)
    fail("a text for {} must be UTF-8, but byte {} of {} is 0x{:02x}, which is none", name_, wrong,
         text.size(), static_cast<unsigned char>(text[wrong]));
  for (const std::uint32_t id : around_.before) output.put(id, 0);
  cut_out(
      original_tokens_, text, [&](std::uint32_t id, std::size_t begin) { output.put(id, begin); },
      [&](std::size_t begin, std::size_t end) {
        const std::string_view part = text.substr(begin, end - begin);
        output.base = begin;
        if (normalizer_.leaves(part)) {
          encode_part(part, output);
          return;
        }
        const NormalizedText changed = normalizer_.apply(part, output.offsets != nullptr);
        if (output.offsets != nullptr) output.origins = &changed.origins;
        encode_part(changed.text, output);
        output.origins = nullptr;
      });
  for (const std::uint32_t id : around_.after) output.put(id, text.size());
}

// A part that is normalised.
void BpeTokenizer::encode_part(std::string_view text, Output& output) const {
  cut_out(
      normalized_tokens_, text,
      [&](std::uint32_t id, std::size_t begin) {
        output.put(id, output.offsets != nullptr ? output.original(begin) : 0);
      },
      [&](std::size_t begin, std::size_t end) {
        encode_pieces(text.substr(begin, end - begin), begin, output);
      });
}

// `text` begins at `begin` of the part.
void BpeTokenizer::encode_pieces(std::string_view text, std::size_t begin, Output& output) const {
  pre_tokenizer_->cut(text, [&](const PieceRun& run) {
    const std::size_t before = output.offsets != nullptr ? output.offsets->size() : 0;
    model_->encode(run, output.ids, output.offsets);
    if (output.offsets == nullptr) return;
    for (std::size_t i = before; i < output.offsets->size(); ++i)
      (*output.offsets)[i] = output.original(begin + run.place_of((*output.offsets)[i]));
  });
}

void BpeTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& ids) const {
  const std::size_t before = ids.size();
  Output output{ids, nullptr};
  try {
    encode_all(text, output);
  } catch (...) {
    ids.resize(before);
    throw;
  }
}

void BpeTokenizer::encode_with_offsets(std::string_view text, std::vector<std::uint32_t>& ids,
                                       std::vector<std::uint32_t>& offsets) const {
  const std::size_t ids_before = ids.size(), offsets_before = offsets.size();
  Output output{ids, &offsets};
  try {
    encode_all(text, output);
  } catch (...) {
    ids.resize(ids_before);
    offsets.resize(offsets_before);
    throw;
  }
}

std::string BpeTokenizer::decode(const std::uint32_t* ids, std::size_t count) const {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (!decoded_.has(ids[i]))
      fail("an id to decode must be in the vocabulary of {}, which has no {}", name_, ids[i]);
    bytes += decoded_[ids[i]];
  }
  return replace_invalid_utf8(std::move(bytes));
}

std::optional<std::uint32_t> BpeTokenizer::token_id(std::string_view token) const {
  if (const auto added = added_.find(token); added != added_.end()) return added->second;
  return vocabulary_.find(token);
}

std::uint32_t BpeTokenizer::vocabulary_size() const {
  return static_cast<std::uint32_t>(decoded_.spans.size());
}

}  // namespace shellgame
