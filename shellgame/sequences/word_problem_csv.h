// Reader and writer for the CSV of the public data jopetty/word-problem: the header
// "seed,input,target", then a line for each word, element numbers separated by single spaces, one
// target for each input. Every error is an InputError at file:line:column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/sequences/numbered_group.h"
#include "shellgame/sequences/sequence.h"

namespace shellgame {

struct WordProblemRow {
  std::uint64_t seed = 0;
  Sequence sequence;
  friend bool operator==(const WordProblemRow&, const WordProblemRow&) = default;
};

// `name` is the file's, for errors. Numbers must be below `elements`, the order of the group.
std::vector<WordProblemRow> read_word_problem_csv(std::string_view content, const std::string& name,
                                                  std::uint64_t elements = std::uint64_t{1} << 32);
std::string write_word_problem_csv(std::span<const WordProblemRow> rows);

// Throws InputError at the first target that is not the product of the inputs so far. The rows are
// those of the file `name`, in its order.
void check_running_products(std::span<const WordProblemRow> rows, const NumberedGroup& group,
                            Multiplication side, const std::string& name);

}  // namespace shellgame
