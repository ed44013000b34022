// Two regular languages of the formal-language harnesses: parity and modular arithmetic without
// brackets. Token numbers, and what a length counts, are those of the xLSTM harness (NX-AI/xlstm,
// used again by "Unlocking State-Tracking in Linear RNNs"), so that figures compare: a sequence of
// length L is L - 1 inputs and one answer, which is predicted at the last input.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/sequences/sequence.h"

namespace shellgame {

// kParity. Tokens [PAD] 0 1. L - 1 fair bits; L is uniform in [min, max]. Target i is the parity of
//   the first i bits, as a token; the last is the answer. (The harness asks for the answer alone.)
// kModularArithmetic. Tokens [PAD] + - * = 0 1 2 3 4. An expression of L - 2 tokens, digits and
//   operators by turns, each uniform, then "="; L is uniform among the odd numbers of [min, max].
//   The only target is the value modulo 5, "*" before "+" and "-", as a digit's token. (The
//   harness lets L start one below an even minimum: 39 for 40. Here it stays inside the range.)
// Both differ from google-deepmind/neural_networks_chomsky_hierarchy, whose length counts the
// inputs only, whose expressions have no "=", and which numbers digits before operators.
// [PAD] is never drawn: it has the number 0 for whoever makes batches.
enum class Language { kParity, kModularArithmetic };
std::string_view to_string(Language language);   // "parity", "modular_arithmetic"
Language parse_language(std::string_view text);  // throws UsageError

struct LengthRange {
  std::uint32_t min, max;
};
inline constexpr LengthRange kTrainLengths{3, 40}, kTestLengths{40, 256};

inline constexpr std::uint32_t kModulus = 5;
// What the numbers of the tokens mean, in order.
std::span<const std::string_view> vocabulary(Language language);

class FormalLanguage : public SequenceTask {
 public:
  // Throws UsageError unless some length is possible: 2 <= min <= max for parity, an odd number
  // from 3 on for modular arithmetic.
  explicit FormalLanguage(Language language, LengthRange lengths = kTrainLengths);

  std::string name() const override;
  std::uint64_t vocabulary_size() const override { return vocabulary(language_).size(); }
  std::string token(std::uint32_t id) const override;
  // The first draw is the length, then one draw for each token.
  Sequence sample(std::uint64_t seed, std::uint64_t index) const override;

 private:
  Language language_;
  LengthRange lengths_;
};

// The value of an expression in the tokens of kModularArithmetic, without the "=". Throws
// UsageError unless digits and operators alternate.
std::uint32_t evaluate_modular(std::span<const std::uint32_t> expression);

}  // namespace shellgame
