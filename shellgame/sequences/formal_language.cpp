#include "shellgame/sequences/formal_language.h"

#include <array>

#include "shellgame/random/philox.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::array<std::string_view, 3> kParityTokens{"[PAD]", "0", "1"};
constexpr std::uint32_t kZeroBit = 1;

constexpr std::array<std::string_view, 10> kModularTokens{"[PAD]", "+", "-", "*", "=",
                                                          "0",     "1", "2", "3", "4"};
constexpr std::uint32_t kPlus = 1, kMinus = 2, kTimes = 3, kEquals = 4, kZeroDigit = 5;

Sequence sample_parity(LengthRange lengths, RandomStream& stream) {
  const std::uint32_t length = lengths.min + stream.below(lengths.max - lengths.min + 1);
  Sequence sequence;
  std::uint32_t parity = 0;
  for (std::uint32_t i = 1; i < length; ++i) {
    const std::uint32_t bit = stream.below(2);
    parity ^= bit;
    sequence.input.push_back(kZeroBit + bit);
    sequence.target.push_back(kZeroBit + parity);
  }
  return sequence;
}

Sequence sample_modular(LengthRange lengths, RandomStream& stream) {
  const std::uint32_t first = lengths.min / 2, last = (lengths.max - 1) / 2;  // L = 2 k + 1
  const std::uint32_t length = 2 * (first + stream.below(last - first + 1)) + 1;
  Sequence sequence;
  for (std::uint32_t i = 0; i + 2 < length; ++i)
    sequence.input.push_back(i % 2 == 0 ? kZeroDigit + stream.below(kModulus)
                                        : kPlus + stream.below(3));
  sequence.target.push_back(kZeroDigit + evaluate_modular(sequence.input));
  sequence.input.push_back(kEquals);
  return sequence;
}

}  // namespace

std::string_view to_string(Language language) {
  return language == Language::kParity ? "parity" : "modular_arithmetic";
}

Language parse_language(std::string_view text) {
  if (text == "parity") return Language::kParity;
  if (text == "modular_arithmetic") return Language::kModularArithmetic;
  wrong_use("A formal language must be \"parity\" or \"modular_arithmetic\", not \"{}\".", text);
}

std::span<const std::string_view> vocabulary(Language language) {
  if (language == Language::kParity) return kParityTokens;
  return kModularTokens;
}

FormalLanguage::FormalLanguage(Language language, LengthRange lengths)
    : language_(language), lengths_(lengths) {
  const bool parity = language == Language::kParity;
  const std::uint32_t least = parity ? 2 : 3;
  if (lengths.min < least || lengths.max > kMaxSequenceLength || lengths.min > lengths.max)
    wrong_use("The lengths of {} must be a range between {} and {}, not {} to {}.",
              to_string(language), least, kMaxSequenceLength, lengths.min, lengths.max);
  if (!parity && lengths.min == lengths.max && lengths.min % 2 == 0)
    wrong_use("The lengths of {} are odd, so that a range must hold an odd number: {} has none.",
              to_string(language), lengths.min);
}

std::string FormalLanguage::name() const {
  return fmt::format("{}, length {} to {}", to_string(language_), lengths_.min, lengths_.max);
}

std::string FormalLanguage::token(std::uint32_t id) const {
  const auto tokens = vocabulary(language_);
  if (id >= tokens.size())
    wrong_use("A token of {} must be below {}, not {}.", to_string(language_), tokens.size(), id);
  return std::string(tokens[id]);
}

Sequence FormalLanguage::sample(std::uint64_t seed, std::uint64_t index) const {
  RandomStream stream(seed, index, Lane::kSequence);
  return language_ == Language::kParity ? sample_parity(lengths_, stream)
                                        : sample_modular(lengths_, stream);
}

std::uint32_t evaluate_modular(std::span<const std::uint32_t> expression) {
  if (expression.size() % 2 == 0)
    wrong_use("An expression must have an odd number of tokens, not {}.", expression.size());
  std::uint32_t sum = 0, term = 1, sign = 1;  // sign is 1 or -1 modulo kModulus
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const std::uint32_t token = expression[i];
    if (i % 2 == 0) {
      if (token < kZeroDigit || token >= kZeroDigit + kModulus)
        wrong_use("Token {} of an expression must be a digit, not {}.", i + 1, token);
      term = term * (token - kZeroDigit) % kModulus;
      continue;
    }
    if (token != kPlus && token != kMinus && token != kTimes)
      wrong_use("Token {} of an expression must be an operator, not {}.", i + 1, token);
    if (token == kTimes) continue;
    sum = (sum + sign * term) % kModulus;
    sign = token == kPlus ? 1 : kModulus - 1;
    term = 1;
  }
  return (sum + sign * term) % kModulus;
}

}  // namespace shellgame
