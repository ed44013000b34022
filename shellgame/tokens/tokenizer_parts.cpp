#include "shellgame/tokens/tokenizer_parts.h"

#include <algorithm>

#include "shellgame/text/error.h"
#include "shellgame/text/utf8.h"

namespace shellgame {
namespace {

constexpr std::size_t kMaxSteps = 64;

void collect_forms(const JsonField& field, std::vector<Normalizer::Form>& forms) {
  using Form = Normalizer::Form;
  const std::string type = field.type();
  if (type == "Sequence") {
    field.allow_keys({"type", "normalizers"});
    for (const JsonField& part : field.at("normalizers").items()) collect_forms(part, forms);
    return;
  }
  field.allow_keys({"type"});
  if (forms.size() == kMaxSteps)
    field.wrong(fmt::format("must not be more than step {}", kMaxSteps));
  for (const auto& [known, form] : {std::pair{"NFC", Form::kNfc},
                                    {"NFD", Form::kNfd},
                                    {"NFKC", Form::kNfkc},
                                    {"NFKD", Form::kNfkd},
                                    {"Lowercase", Form::kLowercase}}) {
    if (type == known) {
      forms.push_back(form);
      return;
    }
  }
  field.at("type").refuse("NFC, NFD, NFKC, NFKD, Lowercase or Sequence");
}

SplitBehavior read_behavior(const JsonField& field) {
  const std::string name = field.text();
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  field.refuse("Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous");
}

// The steps on the way to a PreTokenizer.
struct Cutting {
  std::vector<SplitStep> steps;
  std::vector<std::optional<KnownPattern>> known;  // by step: cuts by this without gaps
  bool byte_level = false, add_prefix_space = false, use_regex = false;
};

void collect_split(const JsonField& field, Cutting& cutting) {
  field.allow_keys({"type", "pattern", "behavior", "invert"});
  const JsonField pattern = field.at("pattern");
  pattern.allow_keys({"Regex", "String"});
  SplitStep step{nullptr, read_behavior(field.at("behavior")), field.boolean_or("invert", false)};
  std::optional<KnownPattern> known;
  if (const auto literal = pattern.find("String")) {
    step.matcher = match_literal(literal->text());
  } else {
    const JsonField regex = pattern.at("Regex");
    known = known_pattern(regex.text());
    try {
      step.matcher = known ? match_known(*known) : match_regex(regex.text());
    } catch (const Error& error) {
      throw InputError(field.file(), fmt::format("{}: {}", regex.path(), error.what()));
    }
  }
  // Every match a piece of its own, which is also what inverting and removing comes to here.
  const bool cuts = step.behavior == SplitBehavior::kIsolated ||
                    (step.behavior == SplitBehavior::kRemoved && step.invert);
  cutting.known.push_back(cuts ? known : std::nullopt);
  cutting.steps.push_back(std::move(step));
}

void collect_steps(const JsonField& field, Cutting& cutting) {
  const std::string type = field.type();
  if (cutting.steps.size() == kMaxSteps)
    field.wrong(fmt::format("must not be more than step {}", kMaxSteps));
  if (type == "Sequence") {
    field.allow_keys({"type", "pretokenizers"});
    for (const JsonField& part : field.at("pretokenizers").items()) collect_steps(part, cutting);
    return;
  }
  if (cutting.byte_level)
    field.wrong(
        fmt::format("must not follow ByteLevel, which must come last, but is \"{}\"", type));
  if (type == "Split") {
    collect_split(field, cutting);
  } else if (type == "Digits") {
    field.allow_keys({"type", "individual_digits"});
    const bool each = field.boolean_or("individual_digits", false);
    cutting.steps.push_back(
        {match_number(), each ? SplitBehavior::kIsolated : SplitBehavior::kContiguous, false});
    cutting.known.emplace_back();
  } else if (type == "ByteLevel") {
    field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    cutting.byte_level = true;
    cutting.add_prefix_space = field.boolean_or("add_prefix_space", true);
    cutting.use_regex = field.boolean_or("use_regex", true);
  } else {
    field.at("type").refuse("ByteLevel, Split, Digits or Sequence");
  }
}

AroundText read_template(const JsonField& field) {
  field.allow_keys({"type", "single", "pair", "special_tokens"});
  const JsonField specials = field.at("special_tokens");
  AroundText around;
  bool text_seen = false;
  const JsonField single = field.at("single");
  for (const JsonField& item : single.items()) {
    item.allow_keys({"SpecialToken", "Sequence"});
    if (const auto sequence = item.find("Sequence")) {
      if (sequence->at("id").text() != "A" || text_seen) sequence->refuse("the sequence A, once");
      text_seen = true;
      continue;
    }
    const JsonField special = specials.at(item.at("SpecialToken").at("id").text());
    for (const JsonField& id : special.at("ids").items())
      (text_seen ? around.after : around.before).push_back(id.id());
  }
  if (!text_seen) single.refuse("a template with the sequence A");
  return around;
}

}  // namespace

Normalizer read_normalizer(const JsonField& field) {
  std::vector<Normalizer::Form> forms;
  if (!field.is_null()) collect_forms(field, forms);
  return Normalizer(std::move(forms));
}

PreTokenizer read_pre_tokenizer(const JsonField& field) {
  Cutting cutting;
  if (field.is_null()) field.refuse("one that ends with ByteLevel");
  collect_steps(field, cutting);
  if (!cutting.byte_level) field.refuse("one that ends with ByteLevel");
  std::optional<KnownPattern> last;
  if (cutting.use_regex) {
    last = KnownPattern::kGpt2;
  } else if (!cutting.add_prefix_space && cutting.steps.size() == 1 && cutting.known[0]) {
    // The usual case: one known pattern does all the cutting, without lists of pieces.
    last = cutting.known[0];
    cutting.steps.clear();
  }
  return PreTokenizer(std::move(cutting.steps), cutting.add_prefix_space, last);
}

AroundText read_post_processor(const JsonField& field) {
  if (field.is_null()) return {};
  const std::string type = field.type();
  if (type == "ByteLevel") {  // changes only offsets, and only the library's
    field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
    return {};
  }
  if (type == "TemplateProcessing") return read_template(field);
  if (type != "Sequence") field.at("type").refuse("ByteLevel, TemplateProcessing or Sequence");
  field.allow_keys({"type", "processors"});
  AroundText around;
  for (const JsonField& part : field.at("processors").items()) {
    const AroundText next = read_post_processor(part);
    around.before.insert(around.before.begin(), next.before.begin(), next.before.end());
    around.after.insert(around.after.end(), next.after.begin(), next.after.end());
  }
  return around;
}

void require_byte_level_decoder(const JsonField& field) {
  if (field.is_null()) field.refuse("ByteLevel");
  if (field.type() != "ByteLevel") field.at("type").refuse("ByteLevel");
  field.allow_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"});
}

std::vector<AddedToken> read_added_tokens(const JsonField& field, const StringIds& vocabulary,
                                          std::size_t count) {
  constexpr std::size_t kMaxContent = 1024;
  std::vector<AddedToken> specials, others;
  auto next_id = static_cast<std::uint32_t>(count);
  const std::vector<JsonField> items = field.is_null() ? std::vector<JsonField>() : field.items();
  std::vector<std::string> contents;
  for (const JsonField& item : items) {
    item.allow_keys({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    token.id = item.at("id").id();
    token.content = item.at("content").text();
    token.single_word = item.boolean_or("single_word", false);
    token.lstrip = item.boolean_or("lstrip", false);
    token.rstrip = item.boolean_or("rstrip", false);
    const bool special = item.boolean_or("special", false);
    token.normalized = item.boolean_or("normalized", !special);
    if (token.content.empty() || token.content.size() > kMaxContent)
      item.at("content").refuse(fmt::format("a text of 1 to {} bytes", kMaxContent));
    // The library does not read the id, but gives the one of the vocabulary or the next free one.
    const auto known = vocabulary.find(token.content);
    const std::uint32_t expected = known ? *known : next_id;
    if (token.id != expected)
      item.at("id").refuse(
          fmt::format("{}, which Hugging Face's library gives to this token", expected));
    next_id = std::max(next_id, token.id + 1);
    contents.push_back(token.content);
    (special ? specials : others).push_back(std::move(token));
  }
  std::sort(contents.begin(), contents.end());
  const auto twice = std::adjacent_find(contents.begin(), contents.end());
  if (twice != contents.end())
    field.wrong(fmt::format("must have each token once, but has \"{}\" twice", *twice));
  specials.insert(specials.end(), std::make_move_iterator(others.begin()),
                  std::make_move_iterator(others.end()));
  return specials;
}

}  // namespace shellgame
