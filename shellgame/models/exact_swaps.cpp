// Swaps by one step each, at the `=` of `a, b = b, a`, where a and b stood three tokens and one
// token ago: I - beta k k^T with k along (row of a) - (row of b).
//   tracking   beta 2: the reflection that exchanges the two rows
//   marginal   beta 2p: (1 - p) I + p P, the paper's mixture of a swap that happens with chance p.
//              A value that is shown, `a 2`, writes row a (beta 1) and closes column 2: the paper's
//              D_l = I - e_a e_a^T, D_r = I - e_2 e_2^T, B = e_a e_2^T.
#include <cmath>

#include "shellgame/models/exact_recipes.h"

namespace shellgame {
namespace {

// Orthonormal keys that are as near to the first n - 1 corners of a simplex as can be (the inverse
// square root of their inner products). Values written under them are found under the corners: the
// right one has the largest share. The last variable's value is the one that is nowhere.
VectorRows writing_rows(const VectorRows& corners) {
  const auto n = corners.size();
  const auto most = static_cast<double>(n - 1);
  const double own = std::sqrt(most / static_cast<double>(n));
  const double common = (std::sqrt(most) - own) / most;
  VectorRows rows(n - 1, std::vector<double>(n - 1));
  for (std::size_t j = 0; j + 1 < n; ++j) {
    for (std::size_t d = 0; d + 1 < n; ++d) {
      rows[j][d] = own * corners[j][d];
      for (std::size_t i = 0; i + 1 < n; ++i) rows[j][d] += common * corners[i][d];
    }
  }
  return rows;
}

// At the third token of a text the look back by one is too strong, as the look back by three has
// nothing to share the norm with; so the latter counts double.
constexpr double kThree = 2;

}  // namespace

Terms vector_terms(const std::vector<int>& channels, const std::vector<double>& left,
                   const std::vector<double>& right) {
  Terms terms;
  for (std::size_t d = 0; d < channels.size(); ++d) {
    const double weight = left[d] - (right.empty() ? 0 : right[d]);
    if (weight != 0) terms.push_back({channels[d], weight});
  }
  return terms;
}

Terms swap_inputs(const TraceReader& reader) {
  return Terms{{reader.word.at(ReaderWord::kEquals), 1}} + each(reader.back1) +
         each(reader.back3, kThree);
}

void add_pairs(std::vector<Rule>& rules, const TraceReader& reader, const std::vector<int>& key,
               const VectorRows& rows, const Terms& also) {
  for (std::size_t i = 0; i < reader.variable.size(); ++i) {
    for (std::size_t j = 0; j < reader.variable.size(); ++j) {
      if (i == j) continue;
      rules.push_back(all_of({{reader.word.at(ReaderWord::kEquals), 1},
                              {reader.back3[i], kThree},
                              {reader.back1[j], 1}},
                             vector_terms(key, rows[i], rows[j]) + also));
    }
  }
}

void add_still(std::vector<Rule>& rules, const TraceReader& reader, int beta) {
  rules.push_back(all_of(Terms{{reader.constant, 1}, {reader.word.at(ReaderWord::kEquals), -1}} +
                             each(reader.value, -1),
                         {{beta, -1}}));
  rules.push_back(all_of(Terms{{reader.word.at(ReaderWord::kEquals), 1}} + each(reader.back3, -1),
                         {{beta, -1}}));
}

void add_swap_form(std::vector<Rule>& rules, const TraceReader& reader) {
  const std::vector<Terms> next = {{{reader.next_comma, 1}, {reader.next_equals, 1}},
                                   {{reader.next_equals, 1}},
                                   {{reader.next_comma, 1}},
                                   {{reader.next_newline, 1}}};
  for (std::size_t p = 0; p < next.size(); ++p) {
    rules.push_back(reader.any_of(reader.variable, {{reader.line.at(Line::kCommand), 1}},
                                  reader.counter().places, p, next[p]));
  }
}

ExactModel exact_swaps(const ExactOptions& options) {
  const int n = options.variables;
  const bool standard = options.representation == ExactRepresentation::kStandard;
  const VectorRows rows = standard ? simplex_rows(n) : paired_rows(n);
  const VectorRows writing = standard ? writing_rows(rows) : rows;
  TraceReader reader(
      {.variables = n,
       .looks_back_three = true,
       .previous_words = {ReaderWord::kEquals, ReaderWord::kPrintOne, ReaderWord::kNewline}});
  const std::vector<int> key = reader.channels().many(static_cast<int>(rows[0].size()));
  const int beta = reader.channels().one();  // 1: beta 2, 0: beta 1, -1: beta 0

  std::vector<Rule> rules;
  add_pairs(rules, reader, key, rows, {{beta, 1}});
  for (std::size_t x = 0; x < static_cast<std::size_t>(n); ++x) {
    const Terms inputs =
        each(reader.value) + Terms{{reader.after.at(ReaderWord::kEquals), 1}, {reader.back2[x], 1}};
    rules.push_back(
        {inputs, 2.5, 0.5, x < writing.size() ? vector_terms(key, writing[x]) : Terms{{beta, -1}}});
  }
  add_still(rules, reader, beta);
  rules.push_back({each(reader.value) + Terms{{reader.after.at(ReaderWord::kEquals), -1}},
                   0.5,
                   0.5,
                   {{beta, -1}}});
  add_swap_form(rules, reader);
  reader.add_full_print(rules);

  const int units = rounded_up(rules.size());
  HandWritten model(reader.width(static_cast<int>(rows[0].size())), units, lexemes());
  for (int layer = 0; layer < 2; ++layer) model.add_delta_net(kExactHeads);
  reader.write(model);
  model.write_rules(0, rules, reader.active());
  const Matrix k = model.matrix(1, "attn.k_proj.weight"), q = model.matrix(1, "attn.q_proj.weight");
  for (std::size_t d = 0; d < key.size(); ++d) {
    const int dimension = static_cast<int>(d);
    k(dimension, key[d]) = kStrong;
    for (std::size_t i = 0; i < rows.size(); ++i)
      q(dimension, reader.back1[i]) = q(dimension, reader.asked[i]) = kWeak * rows[i][d];
  }
  model.matrix(1, "attn.b_proj.weight")(0, beta) = kSaturated;
  write_values(model, reader, reader.value);
  reader.write_head(model);
  return {delta_net_config(model.width(), units, options.silu), model.finish()};
}

ExactModel exact_marginal(const ExactOptions& options) {
  const int n = options.variables;
  const auto count = static_cast<std::size_t>(n);
  TraceReader reader({.variables = n,
                      .knows_maybe = true,
                      .looks_back_three = true,
                      .constant_length = true,
                      .previous_words = {ReaderWord::kEquals, ReaderWord::kSpace,
                                         ReaderWord::kPrintOne, ReaderWord::kNewline}});
  const std::vector<int> key = reader.channels().many(n);
  const std::vector<int> closed = reader.channels().many(n);
  const int beta = reader.channels().one();
  const int width = reader.width(n);
  // After the rules: a swap adds a key of two entries, a value shown adds a key and a column.
  const double gain = norm_gain(width, reader.active() + 2);

  std::vector<Rule> rules;
  add_pairs(rules, reader, key, unit_rows(n), {});
  const auto move = [&](Line line, double height) {
    rules.push_back({swap_inputs(reader) + Terms{{reader.line.at(line), 1}},
                     kSwapInputs + 0.5,
                     0.5,
                     {{beta, height}}});
  };
  move(Line::kCommand, 1);
  const double p = options.probability;
  if (p != 0.5) move(Line::kMaybe, std::log(p / (1 - p)) / (kSaturated * gain));
  const Terms told = {{reader.after.at(ReaderWord::kEquals), 1},
                      {reader.after.at(ReaderWord::kSpace), 1}};
  const Term all{reader.line.at(Line::kAll), 1};
  for (std::size_t x = 0; x < count; ++x) {
    const Terms row = {{key[x], 1}}, column = {{closed[x], 1}}, value = {{reader.value[x], 1}};
    rules.push_back({each(reader.value) + told + Terms{{reader.back2[x], 1}}, 2.5, 0.5, row});
    rules.push_back({value + told + each(reader.back2), 2.5, 0.5, column});
    // The output of a print of all variables.
    rules.push_back(all_of(value + Terms{all}, column));
    rules.push_back(reader.any_of(reader.value, {all}, reader.counter().values, x, row));
  }
  add_still(rules, reader, beta);
  rules.push_back({each(reader.value, 2) + each(reader.back2, -1) +
                       Terms{{reader.after.at(ReaderWord::kEquals), -2},
                             {reader.after.at(ReaderWord::kSpace), -1},
                             {all.channel, -2}},
                   0.5,
                   0.5,
                   {{beta, -1}}});
  add_swap_form(rules, reader);
  reader.add_full_print(rules);

  const int units = rounded_up(rules.size());
  HandWritten model(width, units, lexemes());
  model.add_delta_net(kExactHeads);
  model.add_two_sided(n, n);
  reader.write(model);
  model.write_rules(0, rules, reader.active());
  const Matrix k = model.matrix(1, "attn.k_proj.weight"), q = model.matrix(1, "attn.q_proj.weight");
  const Matrix v = model.matrix(1, "attn.v_proj.weight"), o = model.matrix(1, "attn.o_proj.weight");
  const Matrix right = model.matrix(1, "attn.r_proj.weight");
  for (int i = 0; i < n; ++i) {
    const auto x = static_cast<std::size_t>(i);
    k(i, key[x]) = kStrong;
    q(i, reader.back1[x]) = q(i, reader.asked[x]) = kWeak;
    v(i, reader.value[x]) = 1 / gain;  // H's entry becomes 1
    right(i, closed[x]) = -kSaturated;
    o(reader.answer[x], i) = kOne;
  }
  model.matrix(1, "attn.b_proj.weight")(0, beta) = kSaturated;
  reader.write_head(model);
  return {marginal_config(model.width(), units, n), model.finish()};
}

}  // namespace shellgame
