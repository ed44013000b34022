// How a filter ends: the evidence, or the number format, leaves nothing to go on with. What else
// goes wrong (a limit of sizes, no memory) is no property of the recurrence and not of this type,
// so that no table of lives counts it.
#pragma once

#include <cstdint>
#include <string>

#include "shellgame/text/error.h"

namespace shellgame {

class FilterFailure : public Error {
 public:
  using Error::Error;
};

// Evidence that leaves no mass at a step.
class ZeroEvidence : public FilterFailure {
 public:
  ZeroEvidence(std::uint64_t step, const std::string& symbol, bool underflow,
               const std::string& format);
  std::uint64_t step() const { return step_; }   // counted from 1
  bool underflow() const { return underflow_; }  // else the evidence is impossible

 private:
  std::uint64_t step_;
  bool underflow_;
};

// A number that the format cannot hold.
class NumberTooLarge : public FilterFailure {
 public:
  NumberTooLarge(std::uint64_t step, const std::string& format);
};

// A row or column of the marginal recurrence that has no mass left.
class NothingToDecode : public FilterFailure {
 public:
  using FilterFailure::FilterFailure;
};

}  // namespace shellgame
