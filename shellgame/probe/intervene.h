// `shellgame probe intervene`: change what flows through a tap, one head at a time, and measure how
// many revealed values are still right.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shellgame/evaluate/tally.h"
#include "shellgame/probe/heads.h"

namespace shellgame {

enum class Change {
  kScale,   // times the amount: beta by 0.5 turns the range [0, 2] into [0, 1]
  kClamp,   // not above the amount
  kAblate,  // zero
  kPatch,   // that of another trace, at the same token
  kRound,   // to the nearest whole number, if that is no farther than the amount
};
Change parse_change(const std::string& word);  // scale, clamp, ablate, patch, round

struct Intervention {
  Change change = Change::kScale;
  std::string tap = "beta";
  int layer = 0;
  int head = -1;  // -1: the whole tap
  double amount = 1;
};

// `heads` of the intervention's layer. With kPatch sequence b of a batch gets the tap of sequence
// b + 1, the last one that of the first.
Taps taps_of(const Intervention& intervention, int heads);

// The accuracy of revealed values over the traces of `rows`, with or without (null) changes.
Statistics accuracy_with(const Model& model, const Source& rows, std::uint64_t count,
                         const Taps* taps = nullptr);

struct InterveneOptions {
  Change change = Change::kScale;
  std::string tap = {};       // empty: beta for scale, clamp and round, else output
  int layer = -1, head = -1;  // -1: each in turn
  std::vector<double> amounts =
      {};  // empty: of scale 1 to 0.5, of clamp 2 to 1, of round 0.01 to 0.5
};

// {"chance": c, "accuracy": without changes, "heads": [{layer, head, tap, change, amount,
// accuracy, lost, standard_error}]}, one row for each head and amount. Throws UsageError if no
// layer has the tap.
nlohmann::ordered_json probe_intervene(const Model& model, const Source& rows, std::uint64_t count,
                                       const InterveneOptions& options);
// For people: a row a head, a column an amount.
std::string intervene_as_text(const nlohmann::ordered_json& report);

}  // namespace shellgame
