#include "shellgame/episodes/sequence_source.h"

#include <fmt/format.h>

#include <numeric>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr NumberBounds kLengths = NumberBounds::whole(1, kMaxSequenceLength);

// More targets than this are more than a model's head should have.
constexpr std::uint64_t kMostTargets = 1 << 20;

// The ids that a target may have are consecutive: the first, and how many.
struct Targets {
  std::uint32_t first, count;
};
Targets targets_of(const SequenceSpec& spec, const SequenceTask& task) {
  const auto vocabulary = task.vocabulary_size();
  if (vocabulary > kMostTargets) {
    wrong_use("a sequence task must have at most {} tokens, but {} has {}", kMostTargets,
              task.name(), vocabulary);
  }
  const auto all = static_cast<std::uint32_t>(vocabulary);
  if (spec.kind == "parity") return {all - 2, 2};
  if (spec.kind == "modular-arithmetic") return {all - kModulus, kModulus};
  return {0, all};
}

ValueTree tree_of(const Targets& targets) {
  std::vector<std::vector<std::uint32_t>> values;
  for (std::uint32_t i = 0; i < targets.count; ++i) values.push_back({targets.first + i});
  return ValueTree(values);
}

}  // namespace

class SequenceSource::SequenceEpisode final : public Episode {
 public:
  SequenceEpisode(const SequenceSource& source, std::uint64_t index)
      : source_(source), index_(index) {}

  bool next(Piece& piece, std::size_t) override {
    if (given_) return false;
    given_ = true;
    Sequence sequence = source_.task_->sample(source_.options_.seed, index_);
    piece.questions.clear();
    piece.steps.clear();
    piece.kinds.clear();
    // A single target belongs to the last input.
    const std::size_t before = sequence.input.size() - sequence.target.size();
    for (std::size_t i = 0; i < sequence.target.size(); ++i) {
      piece.questions.push_back({.command = before + i + 1,
                                 .value = sequence.target[i] - source_.first_target_,
                                 .after = before + i,
                                 .values = &source_.tree_});
    }
    piece.ids = std::move(sequence.input);
    if (source_.group_) add_steps(piece);
    return true;
  }

 private:
  // Every element is a step.
  void add_steps(Piece& piece) const {
    const std::size_t n = source_.variables();
    piece.kinds.assign(piece.ids.size(), TokenKind::kElement);
    for (std::size_t t = 0; t < piece.ids.size(); ++t) {
      Step step{.from = t,
                .to = t + 1,
                .sources = images(piece.ids[t]),
                .state = images(piece.questions[t].value)};
      step.belief.resize(n * n);
      for (std::size_t v = 0; v < n; ++v) step.belief[v * n + step.state[v]] = 1;
      piece.steps.push_back(std::move(step));
    }
  }

  // product(state, x) sends v to state(x(v)), or by left multiplication x(state(v)): then the
  // inverses do the first.
  std::vector<std::uint16_t> images(std::uint32_t element) const {
    Permutation p = source_.group_->element(element);
    if (source_.spec_.product == Multiplication::kLeft) p = p.inverse();
    std::vector<std::uint16_t> all;
    for (std::size_t v = 0; v < source_.variables(); ++v)
      all.push_back(static_cast<std::uint16_t>(p(static_cast<int>(v))));
    return all;
  }

  const SequenceSource& source_;
  std::uint64_t index_;
  bool given_ = false;
};

SequenceSource::SequenceSource(const SequenceSpec& spec, const SourceOptions& options)
    : spec_(spec),
      task_(make_sequence_task(spec)),
      first_target_(targets_of(spec, *task_).first),
      tree_(tree_of(targets_of(spec, *task_))),
      options_(options) {
  if (options.steps && spec.kind == "word-problem")
    group_.emplace(NumberedGroup::parse(spec.group));
}

std::unique_ptr<Episode> SequenceSource::episode(std::uint64_t index) const {
  return std::make_unique<SequenceEpisode>(*this, index);
}

std::string SequenceSource::name() const {
  return spec_.kind == "word-problem" ? fmt::format("word problem of {}, {} multiplication",
                                                    spec_.group, to_string(spec_.product))
                                      : spec_.kind;
}

std::vector<Coordinate> SequenceSource::axes() const {
  const bool one = spec_.min == spec_.max || spec_.kind == "word-problem";
  return {
      {"length", one ? fmt::format("{}", spec_.max) : fmt::format("{}-{}", spec_.min, spec_.max)}};
}

std::size_t SequenceSource::variables() const {
  return group_ ? static_cast<std::size_t>(group_->group().degree()) : 0;
}

std::string SequenceSource::value_name(std::uint32_t value) const {
  return task_->token(first_target_ + value);
}

namespace {

// "40", or "3-40" where lengths are drawn.
void set_lengths(SequenceSpec& spec, const std::string& text) {
  const std::size_t dash = text.find('-', 1);
  spec.min = kLengths.parse<std::uint32_t>("length", text.substr(0, dash));
  spec.max = dash == std::string::npos
                 ? spec.min
                 : kLengths.parse<std::uint32_t>("length", text.substr(dash + 1));
  if (spec.max < spec.min)
    wrong_use("length must go from a number to one that is not less, not '{}'", text);
  if (spec.kind == "word-problem" && spec.max > spec.min)
    wrong_use("a word problem has one length, not the range '{}'", text);
  // Expressions have odd lengths: an even one means the next smaller.
  if (spec.kind == "modular-arithmetic" && spec.min == spec.max && spec.min % 2 == 0)
    spec.min = spec.max = spec.max - 1;
}

DataKind sequence_kind(const std::string& name, const std::string& summary,
                       std::vector<DataKey> keys) {
  const SequenceSpec usual;
  const std::string length = name == "word-problem" ? fmt::format("{}", usual.max)
                                                    : fmt::format("{}-{}", usual.min, usual.max);
  keys.push_back({.name = "length",
                  .form = name == "word-problem" ? "N" : "N-M",
                  .help = "of a sequence; a range draws lengths",
                  .usual = length,
                  .is_number = true,
                  .numbers = {{"length", kLengths}}});
  return {.name = name,
          .summary = summary,
          .keys = std::move(keys),
          .axes = {"length"},
          .make = [name, length](const DataSettings& settings) -> SharedData {
            SequenceSpec spec{.kind = name};
            set_lengths(spec, length);
            for (const auto& [key, text] : settings) {
              try {
                if (key == "length") set_lengths(spec, text);
                if (key == "product") spec.product = parse_multiplication(text);
              } catch (const UsageError& error) {
                throw DataKeyError(key, error.what());
              }
              if (key == "group") spec.group = text;
            }
            make_sequence_task(spec);  // throws what is wrong between keys
            return std::make_shared<SequenceData>(spec);
          }};
}

}  // namespace

DataKind parity_kind() {
  return sequence_kind("parity", "the parity of a string of bits, after every bit", {});
}

DataKind modular_arithmetic_kind() {
  return sequence_kind("modular-arithmetic", "the value of an expression modulo 5", {});
}

DataKind word_problem_kind() {
  return sequence_kind(
      "word-problem", "running products of a group's elements",
      {{.name = "group", .form = "GROUP", .help = "S5, A5, Z60, S3xZ2, ...", .usual = "S5"},
       {.name = "product",
        .form = "right|left",
        .help = "the side on which elements are multiplied",
        .usual = "right"}});
}

}  // namespace shellgame
