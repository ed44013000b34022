// Full permutations (and swaps) through slots. The second layer's state has a row for each variable
// and for each slot; a reflection (beta 2) along the difference of two rows exchanges their values.
//   left of `=`     the p-th variable x     row x    <-> slot p
//   right of it     the p-th variable x     row p    <-> slot x     in a permutation of all
//                                           row x    <-> slot p     in a swap
// since the p-th target of a permutation is the p-th variable, and the p-th source of a swap is the
// other target. What rounding leaves in a row that was emptied is removed (beta 1, value 0) at the
// comma or `=` after it, so that errors cannot add up.
#include "shellgame/models/exact_recipes.h"

namespace shellgame {
namespace {

constexpr std::size_t kSwapped = 2;  // variables on each side of a swap

// The p-th variable of the right side stands after p + `left` others in its line. `first` tells
// position 0 by the `=` before it, where the rotations of a swap and of a permutation coincide
// (n = 3).
Rule right_rule(const TraceReader& reader, std::size_t x, std::size_t place, bool first,
                const Terms& outputs) {
  const Terms inputs = {{reader.line.at(Line::kRight), 1},
                        {reader.variable[x], 1},
                        {reader.after.at(ReaderWord::kEquals), first ? 1.0 : -1.0}};
  return reader.rule(inputs, reader.counter().places, place, 0, outputs);
}

}  // namespace

ExactModel exact_slots(const ExactOptions& options) {
  const auto n = static_cast<std::size_t>(options.variables);
  TraceReader reader(
      {.variables = options.variables,
       .equals_is_a_side = true,
       .previous_words = {ReaderWord::kEquals, ReaderWord::kPrintOne, ReaderWord::kNewline}});
  const std::vector<int> row = reader.channels().many(options.variables);
  const std::vector<int> slot = reader.channels().many(options.variables);
  const int beta = reader.channels().one();  // 1: beta 2, 0: beta 1, -1: beta 0
  const int width = reader.width(2 * options.variables);

  std::vector<Rule> rules;
  const auto exchange = [&](std::size_t r, std::size_t s) {
    return Terms{{row[r], 1}, {slot[s], -1}, {beta, 1}};
  };
  const Term comma{reader.next_comma, 1}, equals{reader.next_equals, 1},
      newline{reader.next_newline, 1};
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t x = 0; x < n; ++x) {
      Terms next = {p + 1 == n ? equals : comma};
      if (p < kSwapped && p + 1 < n) next.push_back(equals);  // an assignment or a swap, perhaps
      rules.push_back(reader.rule({{reader.line.at(Line::kCommand), 1}, {reader.variable[x], 1}},
                                  reader.counter().places, p, 0, exchange(x, p) + next));
      rules.push_back(right_rule(reader, x, n + p, p == 0,
                                 exchange(p, x) + Terms{p + 1 == n ? newline : comma}));
      if (n > kSwapped && p < kSwapped)
        rules.push_back(right_rule(reader, x, kSwapped + p, p == 0,
                                   exchange(x, p) + Terms{p == 0 ? comma : newline}));
    }
  }
  for (std::size_t x = 0; x < n; ++x) {
    // Empty the row that was moved aside: at a comma of the left side, or at `=`.
    rules.push_back({{{reader.word.at(ReaderWord::kComma), 1},
                      {reader.line.at(Line::kCommand), 1},
                      {reader.word.at(ReaderWord::kEquals), 2},
                      {reader.back1[x], 1}},
                     2.5,
                     0.5,
                     {{row[x], 1}}});
    // `x = 3` writes.
    rules.push_back({each(reader.value) +
                         Terms{{reader.after.at(ReaderWord::kEquals), 1}, {reader.back2[x], 1}},
                     2.5,
                     0.5,
                     {{row[x], 1}}});
  }
  // All other tokens change nothing.
  const Terms still = {{beta, -1}};
  rules.push_back(all_of(Terms{{reader.constant, 1},
                               {reader.word.at(ReaderWord::kComma), -1},
                               {reader.word.at(ReaderWord::kEquals), -1}} +
                             each(reader.variable, -1) + each(reader.value, -1),
                         still));
  rules.push_back({each(reader.variable) + Terms{{reader.line.at(Line::kCommand), -1},
                                                 {reader.line.at(Line::kRight), -1}},
                   0.5, 0.5, still});
  rules.push_back(all_of(
      {{reader.word.at(ReaderWord::kComma), 1}, {reader.line.at(Line::kCommand), -1}}, still));
  rules.push_back(
      {each(reader.value) + Terms{{reader.after.at(ReaderWord::kEquals), -1}}, 0.5, 0.5, still});
  reader.add_full_print(rules);

  HandWritten model(width, rounded_up(rules.size()), lexemes());
  for (int layer = 0; layer < 2; ++layer) model.add_delta_net(kExactHeads);
  reader.write(model);
  model.write_rules(0, rules, reader.active());

  const VectorRows rows =
      options.silu ? signed_rows(options.variables) : paired_rows(2 * options.variables);
  const Matrix k = model.matrix(1, "attn.k_proj.weight"), q = model.matrix(1, "attn.q_proj.weight");
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < rows[i].size(); ++d) {
      const int dimension = static_cast<int>(d);
      k(dimension, row[i]) = kStrong * rows[i][d];
      k(dimension, slot[i]) = kStrong * rows[n + i][d];
      q(dimension, reader.back1[i]) = q(dimension, reader.asked[i]) = kWeak * rows[i][d];
    }
  }
  model.matrix(1, "attn.b_proj.weight")(0, beta) = kSaturated;
  write_values(model, reader, reader.value);
  reader.write_head(model);
  return {delta_net_config(model.width(), rounded_up(rules.size()), options.silu), model.finish()};
}

}  // namespace shellgame
