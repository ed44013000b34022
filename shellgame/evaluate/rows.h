// What a model is asked: rows of tokens, piece by piece, with the places at which a value is to be
// predicted, its true value and the exact belief about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/evaluate/value_tree.h"

namespace shellgame {

struct AskedReveal {
  std::uint64_t command = 0;    // commands executed before it (of a sequence: inputs read)
  std::uint32_t variable = 0;   // which one is shown
  std::uint32_t value = 0;      // the true one, as ValueTree counts
  std::uint64_t after = 0;      // the token of the piece after which the value is predicted
  std::uint32_t length = 0;     // of the value, in tokens; 0 where it does not stand in the row
  std::uint32_t end_token = 0;  // the one after the value
  const ValueTree* values = nullptr;  // lives as long as the RowMaker
  std::vector<double> belief = {};    // of each value; empty where the true one is certain
};

struct RowPiece {
  std::vector<std::uint32_t> ids;
  std::vector<AskedReveal> reveals;
};

class Row {
 public:
  virtual ~Row() = default;
  // The next piece, which replaces what `piece` held. False at the end.
  virtual bool next(RowPiece& piece) = 0;
};

// The rows of one cell of an evaluation: row `index` is a pure function of the maker and the index.
class RowMaker {
 public:
  virtual ~RowMaker() = default;
  // Safe from several threads; the maker must outlive the row.
  virtual std::unique_ptr<Row> row(std::uint64_t index) const = 0;
  // Of one row: exact where all rows are equally long, else of a typical one.
  virtual std::uint64_t tokens() const = 0;
  // One more than the largest id that a row may hold or ask for.
  virtual std::uint64_t vocabulary_size() const = 0;
  virtual std::uint64_t length() const = 0;  // commands or inputs
  virtual double chance() const = 0;         // that a blind guess is right
  // Whether the belief about every reveal is known.
  virtual bool has_beliefs() const = 0;
  virtual std::string variable_name(std::uint32_t variable) const = 0;
  virtual std::string value_name(std::uint32_t value) const = 0;
};

}  // namespace shellgame
