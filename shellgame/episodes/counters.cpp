// Several counters modulo m as a kind of data: a small example of everything that one may have.
// A row is a start token, then commands, each one token: "+a" adds 1 to counter a, "?a" adds 1 with
// the probability of the task and does not tell. After every `spacing` commands one counter, drawn
// without a look at its value, is shown: "show a", then the value. All begin at 0.
//
// The exact belief is a distribution over m values a counter, since counters do not meet: a hidden
// step mixes it with its shift, b'[x] = (1 - p) b[x] + p b[x - 1]; what is shown is certain. It
// runs beside the row in O(m) a command and k m numbers.
#include <fmt/format.h>

#include <cmath>

#include "shellgame/episodes/data_kinds.h"
#include "shellgame/random/philox.h"
#include "shellgame/system/saturating.h"

namespace shellgame {
namespace {

constexpr NumberBounds kCounterBounds = NumberBounds::whole(1, 26);
constexpr NumberBounds kModulusBounds = NumberBounds::whole(2, 1024);
constexpr NumberBounds kRowLengths = NumberBounds::whole(1, 1'000'000'000'000);

struct Counters {
  std::uint32_t counters = 3, modulus = 4;
  std::uint64_t length = 32, spacing = 4;
  double hidden = 0.5;  // the share of commands whose outcome is not told
  double probability = 0.5;

  bool certain() const { return hidden == 0 || probability == 0 || probability == 1; }
  // Tokens: the start, then of each counter "+", "?" and "show", then the values.
  std::uint32_t add(std::uint32_t counter) const { return 1 + 3 * counter; }
  std::uint32_t maybe(std::uint32_t counter) const { return 2 + 3 * counter; }
  std::uint32_t show(std::uint32_t counter) const { return 3 + 3 * counter; }
  std::uint32_t value(std::uint32_t number) const { return 1 + 3 * counters + number; }
  std::uint32_t vocabulary() const { return 1 + 3 * counters + modulus; }
};

ValueTree tree_of(const Counters& task) {
  std::vector<std::vector<std::uint32_t>> values;
  for (std::uint32_t v = 0; v < task.modulus; ++v) values.push_back({task.value(v)});
  return ValueTree(values);
}

class CountersSource final : public Source {
 public:
  CountersSource(const Counters& task, const SourceOptions& options)
      : task_(task), options_(options), tree_(tree_of(task)) {}

  std::unique_ptr<Episode> episode(std::uint64_t index) const override;
  std::uint64_t tokens() const override {
    return saturating_add(2 + task_.length, saturating_multiply(2ul, task_.length / task_.spacing));
  }
  std::uint64_t vocabulary_size() const override { return task_.vocabulary(); }
  std::string name() const override {
    return fmt::format("{} counters modulo {}", task_.counters, task_.modulus);
  }
  std::vector<Coordinate> axes() const override {
    return {{"length", fmt::format("{}", task_.length)},
            {"spacing", fmt::format("{}", task_.spacing)}};
  }
  std::uint64_t length() const override { return task_.length; }
  double chance() const override { return 1.0 / task_.modulus; }
  bool has_beliefs() const override { return options_.beliefs || is_certain(); }
  bool is_certain() const override { return task_.certain(); }
  std::size_t variables() const override { return 0; }
  std::string variable_name(std::uint32_t counter) const override {
    return std::string(1, static_cast<char>('a' + counter));
  }
  std::string value_name(std::uint32_t value) const override { return fmt::format("{}", value); }

  const Counters& task() const { return task_; }
  const SourceOptions& options() const { return options_; }
  const ValueTree& tree() const { return tree_; }

 private:
  Counters task_;
  SourceOptions options_;
  ValueTree tree_;
};

class CountersEpisode final : public Episode {
 public:
  CountersEpisode(const CountersSource& source, std::uint64_t index)
      : source_(source),
        task_(source.task()),
        draws_(source.options().seed, index, Lane::kSequence),
        numbers_(task_.counters, 0),
        beliefs_(task_.counters, certain(0)) {}

  bool next(Piece& piece, std::size_t tokens) override {
    piece.ids.clear();
    piece.questions.clear();
    piece.steps.clear();
    piece.kinds.clear();
    if (ended_) return false;
    if (done_ == 0) piece.ids.push_back(0);
    // A piece ends after a command, never between a value and the token after it.
    do {
      if (done_ > 0 && done_ % task_.spacing == 0) reveal(piece);
      ended_ = done_ == task_.length;
      if (ended_) {
        piece.ids.push_back(0);
        finish(piece, 0);
      } else {
        command(piece);
        ++done_;
      }
    } while (!ended_ && piece.ids.size() < tokens);
    return true;
  }

 private:
  std::vector<double> certain(std::uint32_t value) const {
    std::vector<double> belief(task_.modulus, 0);
    belief[value] = 1;
    return belief;
  }

  void command(Piece& piece) {
    const std::uint32_t counter = draws_.below(task_.counters);
    const bool hidden = draws_.unit() < task_.hidden;
    const std::uint32_t token = hidden ? task_.maybe(counter) : task_.add(counter);
    const bool adds = !hidden || draws_.unit() < task_.probability;
    piece.ids.push_back(token);
    finish(piece, token);
    if (adds) numbers_[counter] = (numbers_[counter] + 1) % task_.modulus;
    const double p = hidden ? task_.probability : 1;
    std::vector<double>& belief = beliefs_[counter];
    const double last = belief.back();
    for (std::size_t x = task_.modulus - 1; x > 0; --x)
      belief[x] = (1 - p) * belief[x] + p * belief[x - 1];
    belief[0] = (1 - p) * belief[0] + p * last;
  }

  void reveal(Piece& piece) {
    const std::uint32_t counter = draws_.below(task_.counters), value = numbers_[counter];
    piece.ids.push_back(task_.show(counter));
    piece.questions.push_back({.command = done_,
                               .variable = counter,
                               .value = value,
                               .after = piece.ids.size() - 1,
                               .length = 1,
                               .end_token = 0,
                               .values = &source_.tree()});
    const bool known = beliefs_[counter][value] == 1;
    if (source_.options().beliefs && !known) piece.questions.back().belief = beliefs_[counter];
    piece.ids.push_back(task_.value(value));
    beliefs_[counter] = certain(value);
    waiting_ = true;
  }

  // The token after the value that was shown last.
  void finish(Piece& piece, std::uint32_t token) {
    if (waiting_) piece.questions.back().end_token = token;
    waiting_ = false;
  }

  const CountersSource& source_;
  const Counters& task_;
  RandomStream draws_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::vector<double>> beliefs_;
  std::uint64_t done_ = 0;
  bool waiting_ = false, ended_ = false;
};

std::unique_ptr<Episode> CountersSource::episode(std::uint64_t index) const {
  return std::make_unique<CountersEpisode>(*this, index);
}

class CountersData final : public Data {
 public:
  explicit CountersData(const Counters& task) : task_(task) {}
  bool is_text() const override { return false; }
  std::unique_ptr<Source> source(const Tokenizer*, const SourceOptions& options) const override {
    return std::make_unique<CountersSource>(task_, options);
  }
  bool goes_on() const override { return true; }
  std::uint64_t segment_tokens(const Tokenizer*) const override {
    return CountersSource(task_, {}).tokens() - 2;
  }
  std::unique_ptr<Source> stream(const Tokenizer*, const SourceOptions& options,
                                 std::uint64_t tokens) const override {
    Counters longer = task_;
    longer.length = std::max<std::uint64_t>(tokens, 1);  // every command is a token at least
    return std::make_unique<CountersSource>(longer, options);
  }
  std::string silence() const override {
    if (task_.spacing <= task_.length) return "";
    return fmt::format("spacing must be at most length, or nothing is shown, and it is {} with {}",
                       task_.spacing, task_.length);
  }

 private:
  Counters task_;
};

DataKey number_key(const std::string& name, const std::string& help, const std::string& usual,
                   const NumberBounds& bounds) {
  return {.name = name,
          .form = bounds.is_whole() ? "N" : "P",
          .help = help,
          .usual = usual,
          .is_number = true,
          .numbers = {{name, bounds}}};
}

}  // namespace

DataKind counters_kind() {
  return {
      .name = "counters",
      .summary = "several counters modulo m, some of whose steps are hidden",
      .keys = {number_key("counters", "how many there are", "3", kCounterBounds),
               number_key("modulus", "each counts modulo it", "4", kModulusBounds),
               number_key("length", "commands of a row", "32", kRowLengths),
               number_key("spacing", "commands between two that show a counter", "4", kRowLengths),
               number_key("hidden", "the share of commands whose outcome is not told", "0.5",
                          kShareBounds),
               number_key("probability", "that a hidden command adds 1", "0.5", kShareBounds)},
      .axes = {"length", "spacing"},
      .make = [](const DataSettings& settings) -> SharedData {
        Counters task;
        const auto read = [&](const char* key, auto& member, const NumberBounds& bounds) {
          const auto given = settings.find(key);
          if (given == settings.end()) return;
          const std::string wrong = bounds.check(key, given->second);
          if (!wrong.empty()) throw DataKeyError(key, wrong);
          member = bounds.parse<std::remove_reference_t<decltype(member)>>(key, given->second);
        };
        read("counters", task.counters, kCounterBounds);
        read("modulus", task.modulus, kModulusBounds);
        read("length", task.length, kRowLengths);
        read("spacing", task.spacing, kRowLengths);
        read("hidden", task.hidden, kShareBounds);
        read("probability", task.probability, kShareBounds);
        return std::make_shared<CountersData>(task);
      }};
}

}  // namespace shellgame
