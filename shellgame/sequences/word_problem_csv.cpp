#include "shellgame/sequences/word_problem_csv.h"

#include <limits>

#include "shellgame/sequences/word_problem.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::string_view kHeader = "seed,input,target";

// A cursor over one line; columns count bytes from 1.
class Line {
 public:
  Line(std::string_view text, const std::string& name, std::size_t number)
      : text_(text), name_(name), number_(number) {}

  bool at_end() const { return position_ == text_.size(); }
  bool at(char c) const { return !at_end() && text_[position_] == c; }
  std::size_t position() const { return position_; }

  [[noreturn]] void refuse(std::size_t position, const std::string& sentence) const {
    throw InputError(fmt::format("{}:{}:{}", name_, number_, position + 1), sentence);
  }

  void expect_comma(std::string_view what) {
    if (!at(',')) refuse(position_, fmt::format("a comma must follow the {}", what));
    ++position_;
  }

  // Without leading zeros, so that a number has one form and a row can be written back as it was.
  std::uint64_t read_number(std::string_view what, std::uint64_t bound) {
    const std::size_t start = position_;
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t value = 0;
    bool overflow = false;
    for (; !at_end() && text_[position_] >= '0' && text_[position_] <= '9'; ++position_) {
      const auto digit = static_cast<std::uint64_t>(text_[position_] - '0');
      overflow = overflow || value > (kMax - digit) / 10;
      value = overflow ? kMax : value * 10 + digit;
    }
    if (position_ == start) refuse(start, fmt::format("{} must be a whole number", what));
    if (text_[start] == '0' && position_ - start > 1)
      refuse(start, fmt::format("{} must be written without leading zeros", what));
    if (overflow || (bound != 0 && value >= bound))
      refuse(start, fmt::format("{} must be below {}, not {}", what,
                                bound == 0 ? "2^64" : fmt::format("{}", bound),
                                text_.substr(start, std::min<std::size_t>(position_ - start, 24))));
    return value;
  }

  std::vector<std::uint32_t> read_indices(std::string_view what, std::uint64_t elements) {
    std::vector<std::uint32_t> indices;
    while (true) {
      indices.push_back(static_cast<std::uint32_t>(read_number(what, elements)));
      if (!at(' ')) return indices;
      ++position_;
    }
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t number_;
  std::size_t position_ = 0;
};

WordProblemRow read_row(Line line, std::uint64_t elements) {
  WordProblemRow row;
  row.seed = line.read_number("the seed", 0);
  line.expect_comma("seed");
  row.sequence.input = line.read_indices("an input", elements);
  line.expect_comma("input");
  const std::size_t target_start = line.position();
  row.sequence.target = line.read_indices("a target", elements);
  if (!line.at_end())
    line.refuse(line.position(), "only a space and a further target may follow a target");
  const std::size_t inputs = row.sequence.input.size(), targets = row.sequence.target.size();
  if (inputs != targets)
    line.refuse(target_start, fmt::format("there must be as many targets as inputs, not {} and {}",
                                          targets, inputs));
  return row;
}

std::size_t written_size(std::uint64_t value) { return fmt::formatted_size("{}", value); }

// Where target `which` of a row starts in its line.
std::size_t target_column(const WordProblemRow& row, std::size_t which) {
  std::size_t column = written_size(row.seed) + 2;
  for (const std::uint32_t index : row.sequence.input) column += written_size(index) + 1;
  for (std::size_t i = 0; i < which; ++i) column += written_size(row.sequence.target[i]) + 1;
  return column;
}

}  // namespace

std::vector<WordProblemRow> read_word_problem_csv(std::string_view content, const std::string& name,
                                                  std::uint64_t elements) {
  if (elements == 0 || elements > std::uint64_t{1} << 32)
    wrong_use("The number of elements must be between 1 and 2^32, not {}.", elements);
  std::vector<WordProblemRow> rows;
  for (std::size_t number = 1; number == 1 || !content.empty(); ++number) {
    const std::size_t end = content.find('\n');
    std::string_view text = content.substr(0, end);
    content.remove_prefix(end == content.npos ? content.size() : end + 1);
    if (text.ends_with('\r')) text.remove_suffix(1);
    const Line line(text, name, number);
    if (number > 1) {
      rows.push_back(read_row(line, elements));
    } else if (text == "length,input,target") {
      line.refuse(0,
                  "the header must be \"seed,input,target\"; this file has the older form of the "
                  "data, which holds only the last product");
    } else if (text != kHeader) {
      line.refuse(
          0, fmt::format("the header must be \"{}\", not \"{}\"", kHeader, text.substr(0, 40)));
    }
  }
  return rows;
}

std::string write_word_problem_csv(std::span<const WordProblemRow> rows) {
  std::string text = kSequenceCsvHeader;
  for (const WordProblemRow& row : rows) text += csv_row(row.seed, row.sequence);
  return text;
}

void check_running_products(std::span<const WordProblemRow> rows, const NumberedGroup& group,
                            Multiplication side, const std::string& name) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Sequence& sequence = rows[r].sequence;
    const std::vector<std::uint32_t> products = running_products(group, sequence.input, side);
    for (std::size_t i = 0; i < products.size(); ++i)
      if (sequence.target.size() <= i || sequence.target[i] != products[i])
        throw InputError(
            fmt::format("{}:{}:{}", name, r + 2, target_column(rows[r], i)),
            fmt::format(
                "target {} must be {}, the product of the inputs so far in {} by {} "
                "multiplication, not {}",
                i + 1, products[i], group.name(), to_string(side),
                sequence.target.size() <= i ? "missing" : fmt::format("{}", sequence.target[i])));
  }
}

}  // namespace shellgame
