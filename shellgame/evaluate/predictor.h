// What can be judged: something that reads rows of token ids side by side and gives the logits
// after some of them, in plain arrays. LibTorch's models are such (models/model_predictor.h), and
// filters (evaluate/filter_predictor.h), so that both are scored by the same code.
//
//   const auto reading = predictor.begin(2);                    // two rows
//   reading->read(ids, {{.row = 0, .token = 3}}, logits);       // ids [2, T], logits [1,
//   vocabulary]
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shellgame {

// A token of what is read at once.
struct TokenPlace {
  std::size_t row = 0, token = 0;
};

// Rows on their way, with what is remembered of them.
class Reading {
 public:
  virtual ~Reading() = default;
  // The next tokens of all rows, ids [B, T] row after row. `logits` becomes [places, vocabulary]:
  // the numbers after each place, by row and token in their order. They may be -infinity, but not
  // all of a place. Ids past a row's end are 0 and no place is behind them.
  virtual void read(std::span<const std::int64_t> ids, std::span<const TokenPlace> places,
                    std::vector<double>& logits) = 0;
  // Another reading that goes on from here, on its own. Throws UsageError where may_be_copied() is
  // false.
  virtual std::unique_ptr<Reading> copy() const = 0;
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::uint64_t vocabulary_size() const = 0;
  // So many rows at their beginning. The predictor must outlive the reading.
  virtual std::unique_ptr<Reading> begin(std::size_t rows) const = 0;
  // Whether readings can be copied, so that rows that begin alike are read once up to where they
  // part.
  virtual bool may_be_copied() const { return false; }
  // Bytes for a row of so many tokens beyond what is always needed: 0 where memory is constant.
  virtual std::int64_t growing_memory(std::uint64_t /*tokens*/) const { return 0; }
  // Bytes that one read() of so many tokens of each row holds at the least.
  virtual std::uint64_t pass_memory(std::uint64_t /*rows*/, std::uint64_t /*tokens*/) const {
    return 0;
  }
  // What a reader of the results must know, after some rows were read.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace shellgame
