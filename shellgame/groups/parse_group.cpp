// Groups by name: "S5", "A4xZ5", "<(1 2), (1 2 3)>". The grammar is
//   group = factor { separator factor },   separator = "x" or "_x_", spaces allowed around it,
//   factor = letter number | "<" permutation { "," permutation } ">",   letter = S, A, Z or D.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "shellgame/groups/group.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr int kTooLarge = 1'000'000;

class GroupReader {
 public:
  explicit GroupReader(std::string_view text) : text_(text) {}

  Group read() {
    std::optional<Group> group;
    while (true) {
      const std::size_t start = position_;
      const Group factor = read_factor();
      if (group && group->degree() + factor.degree() > kMaxPoints) {
        position_ = start;
        refuse(fmt::format("all factors together may have at most {} points, and this one makes {}",
                           kMaxPoints, group->degree() + factor.degree()));
      }
      group = group ? Group::direct_product(*group, factor) : factor;
      skip_spaces();
      if (at_end()) return *group;
      read_separator();
    }
  }

 private:
  bool at_end() const { return position_ == text_.size(); }
  char here() const { return at_end() ? '\0' : text_[position_]; }
  bool at_digit() const { return here() >= '0' && here() <= '9'; }
  void skip_spaces() {
    while (here() == ' ') ++position_;
  }

  [[noreturn]] void refuse(const std::string& rule) const {
    wrong_use(
        "In the group \"{}\", at character {}: {}. Groups are S5, A5, Z7, D4, products such as "
        "A4xZ5, and <(1 2), (1 2 3)>.",
        text_, position_ + 1, rule);
  }

  Group read_factor() {
    skip_spaces();
    if (here() == '<') return read_generated();
    const char letter = here();
    if (letter != 'S' && letter != 'A' && letter != 'Z' && letter != 'D')
      refuse("a group must start with S, A, Z, D or <");
    ++position_;
    if (!at_digit()) refuse(fmt::format("a number must follow {}", letter));
    const std::size_t start = position_;
    int n = 0;
    for (; at_digit(); ++position_) n = std::min(kTooLarge, n * 10 + (here() - '0'));
    const std::size_t end = position_;
    position_ = start;  // where an error is
    if (letter == 'D' && n == 1) refuse("the symmetries of the 1-gon move no point; write Z2");
    if (letter == 'D' && n == 2)
      refuse("the symmetries of the 2-gon need more than 2 points; write Z2xZ2");
    if (n < 1 || n > kMaxPoints)
      refuse(fmt::format("the number after {} must be between {} and {}{}", letter,
                         letter == 'D' ? 3 : 1, kMaxPoints, letter == 'Z' ? smaller_form(n) : ""));
    position_ = end;
    if (letter == 'S') return Group::symmetric(n);
    if (letter == 'A') return Group::alternating(n);
    if (letter == 'Z') return Group::cyclic(n);
    return Group::dihedral(n);
  }

  static std::string smaller_form(int n) {
    if (n < 1 || n == kTooLarge) return "";
    const std::vector<int> factors = prime_power_factors(n);
    if (std::accumulate(factors.begin(), factors.end(), 0) > kMaxPoints) return "";
    std::string form;
    for (const int factor : factors) form += fmt::format("{}Z{}", form.empty() ? "" : "x", factor);
    return fmt::format("; the same group on fewer points is {}", form);
  }

  Group read_generated() {
    std::vector<Permutation> generators;
    do {
      ++position_;  // "<" or ","
      skip_spaces();
      generators.push_back(read_permutation());
    } while (here() == ',');
    if (here() != '>') refuse("a list of generators must end with \">\"");
    ++position_;
    return Group::generated(std::move(generators));
  }

  // The text up to the comma or ">" outside brackets.
  Permutation read_permutation() {
    const std::size_t start = position_;
    bool inside = false;
    for (; !at_end() && (inside || (here() != ',' && here() != '>')); ++position_) {
      if (here() == '(') inside = true;
      if (here() == ')') inside = false;
    }
    const std::string_view part = text_.substr(start, position_ - start);
    if (part.empty()) refuse("a generator such as (1 2 3) must stand here");
    try {
      return Permutation::from_cycles(part);
    } catch (const UsageError& error) {
      position_ = start;
      refuse(fmt::format("a generator must be a permutation ({})", error.what()));
    }
  }

  void read_separator() {
    if (text_.substr(position_, 3) == "_x_") {
      position_ += 3;
    } else if (here() == 'x') {
      ++position_;
    } else {
      refuse("only x and a further factor may follow");
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

Group parse_group(std::string_view text) { return GroupReader(text).read(); }

}  // namespace shellgame
