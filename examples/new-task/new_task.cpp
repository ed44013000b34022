// A new kind of data in a project of its own: echo. A row is a string of drawn symbols, and after
// each of them, from the `delay`-th on, the model is asked which symbol stood `delay` places
// before. As a plug-in it is trained, evaluated and written to files like the kinds that come with
// shellgame. It needs no LibTorch.
#include <fmt/format.h>

#include "shellgame/episodes/data_kind.h"
#include "shellgame/models/plugin.h"
#include "shellgame/random/philox.h"

namespace {

using namespace shellgame;

constexpr NumberBounds kSymbols = NumberBounds::whole(2, 1000),
                       kDelay = NumberBounds::whole(1, 1000),
                       kLength = NumberBounds::whole(1, 1'000'000);

struct Echo {
  std::uint32_t symbols = 4, delay = 3, length = 32;
};

ValueTree symbols_of(const Echo& echo) {
  std::vector<std::vector<std::uint32_t>> values;
  for (std::uint32_t id = 0; id < echo.symbols; ++id) values.push_back({id});
  return ValueTree(values);
}

class EchoSource : public Source {
 public:
  EchoSource(const Echo& echo, std::uint64_t seed)
      : echo_(echo), seed_(seed), tree_(symbols_of(echo)) {}

  std::unique_ptr<Episode> episode(std::uint64_t index) const override {
    return std::make_unique<Row>(*this, index);
  }
  std::uint64_t tokens() const override { return echo_.length; }
  std::uint64_t vocabulary_size() const override { return echo_.symbols; }
  std::string name() const override { return fmt::format("echo after {}", echo_.delay); }
  std::vector<Coordinate> axes() const override {
    return {{"length", fmt::format("{}", echo_.length)}};
  }
  std::uint64_t length() const override { return echo_.length; }
  double chance() const override { return 1.0 / echo_.symbols; }
  bool has_beliefs() const override { return true; }  // every answer follows from the row
  bool is_certain() const override { return true; }
  std::size_t variables() const override { return 0; }
  std::string variable_name(std::uint32_t) const override { return "echo"; }
  std::string value_name(std::uint32_t value) const override { return fmt::format("{}", value); }

 private:
  class Row : public Episode {
   public:
    Row(const EchoSource& source, std::uint64_t index) : source_(source), index_(index) {}
    bool next(Piece& piece, std::size_t) override {
      if (given_) return false;
      given_ = true;
      piece = Piece();
      RandomStream draws(source_.seed_, index_, Lane::kSequence);
      const Echo& echo = source_.echo_;
      for (std::uint32_t t = 0; t < echo.length; ++t) {
        piece.ids.push_back(draws.below(echo.symbols));
        if (t < echo.delay) continue;
        piece.questions.push_back({.command = t + 1,
                                   .value = piece.ids[t - echo.delay],
                                   .after = t,
                                   .values = &source_.tree_});
      }
      return true;
    }

   private:
    const EchoSource& source_;
    std::uint64_t index_;
    bool given_ = false;
  };

  Echo echo_;
  std::uint64_t seed_;
  ValueTree tree_;
};

class EchoData : public Data {
 public:
  explicit EchoData(const Echo& echo) : echo_(echo) {}
  bool is_text() const override { return false; }
  std::unique_ptr<Source> source(const Tokenizer*, const SourceOptions& options) const override {
    return std::make_unique<EchoSource>(echo_, options.seed);
  }
  std::string silence() const override {
    return echo_.length > echo_.delay ? "" : "length must be more than delay, or nothing is asked";
  }

 private:
  Echo echo_;
};

SharedData make_echo(const DataSettings& settings) {
  Echo echo;
  for (const auto& [key, text] : settings) {
    if (key == "symbols") echo.symbols = kSymbols.parse<std::uint32_t>(key, text);
    if (key == "delay") echo.delay = kDelay.parse<std::uint32_t>(key, text);
    if (key == "length") echo.length = kLength.parse<std::uint32_t>(key, text);
  }
  return std::make_shared<EchoData>(echo);
}

DataKey number(const std::string& name, const std::string& help, const std::string& usual,
               const NumberBounds& bounds) {
  return {name, "N", help, usual, /*is_number=*/true, {{name, bounds}}};
}

void register_all() {
  register_data_kind({.name = "echo",
                      .summary = "the symbol that stood some places before",
                      .keys = {number("symbols", "different ones", "4", kSymbols),
                               number("delay", "places", "3", kDelay),
                               number("length", "of a row", "32", kLength)},
                      .axes = {"length"},
                      .make = make_echo});
}

}  // namespace

SHELLGAME_PLUGIN(register_all)
