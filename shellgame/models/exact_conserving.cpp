// One ungated delta-rule head that keeps a certainty through any number of maybe-swaps and reveals.
// Rows are variables, columns values; with k = (e_a - e_b)/sqrt 2 a step moves S_a - S_b alone:
//   `if random() < p: a, b = b, a`   k, beta 2p, value 0        S_a - S_b times 1 - 2p
//   `a 2`, after such a line, p between 0 and 1
//                                    k, beta 1, e_2 / sqrt 2    S_a - S_b becomes e_2
//   `a = 1`, any other `a 2`         e_a, beta 1, e_2           row a becomes e_2
// S_a + S_b is conserved, and it holds what is known by exclusion: b keeps half of the value that
// is not shown, and never loses it. It is no filter: what is halved twice is not told apart from
// what is known less well.
#include <cmath>

#include "shellgame/models/exact_recall.h"
#include "shellgame/models/exact_recipes.h"

namespace shellgame {
namespace {

constexpr int kChanceHead = kPairHead + 1;

// p of the last `if`, in tenths as it is written (`0.1`, `1.0`), and whether the last command had
// an `if`. Two rows: the digits are known at the `: `, that a line has no `if` at its first
// variable.
struct LastChance {
  explicit LastChance(TraceReader& reader)
      : tenths(reader.channels().many(11)),
        maybe(reader.channels().one()),
        plain(reader.channels().one()) {}

  Terms uncertain() const {
    return each({tenths.begin() + 1, tenths.end() - 1}) + Terms{{maybe, 1}};
  }

  RecallHead head(const TraceReader& reader) const {
    const auto word = [&](ReaderWord w) { return reader.word.at(w); };
    const int colon = word(ReaderWord::kColon), zero = reader.digit[0];
    RecallHead head{
        .head = kChanceHead,
        .written = reader.variable,
        .rows = {{.key = {{word(ReaderWord::kPrompt), 1}, {word(ReaderWord::kIf), 1}}, .tokens = 1},
                 {.key = {{colon, 1}}}},
        .columns = {{{{word(ReaderWord::kIf), 1}}, {{1}}, maybe},
                    {{{word(ReaderWord::kPrompt), 1}}, {{1}}, plain}},
        .lit = 2};
    head.written.push_back(word(ReaderWord::kRandom));
    head.written.push_back(colon);
    for (std::size_t d = 1; d < 10; ++d)
      head.columns.push_back({{{reader.digit[d], 1}}, {{1}}, tenths[d]});
    // Of `0`, `.`, `0`, `: ` the first and the third, of `1`, `.`, `0`, `: ` the third alone.
    head.columns.push_back({{{zero, 2}, {colon, -3}}, {{0}, {1}, {3}}, tenths[0]});
    head.columns.push_back({{{zero, 1}}, {{1}, {3, -1}}, tenths[10]});
    return head;
  }

  std::vector<int> tenths;  // channels: 0.0, 0.1, ..., 1.0
  int maybe, plain;
};

}  // namespace

ExactModel exact_conserving(const ExactOptions& options) {
  const int n = options.variables;
  const auto count = static_cast<std::size_t>(n);
  const VectorRows rows = paired_rows(n);
  TraceReader reader({.variables = n,
                      .heads = kRecallHeads,
                      .knows_maybe = true,
                      .knows_probability = true,
                      .looks_back_three = true,
                      .constant_length = true,
                      .previous_words = {ReaderWord::kEquals, ReaderWord::kSpace,
                                         ReaderWord::kPrintOne, ReaderWord::kNewline}});
  const LastPair pair(reader);
  const LastChance chance(reader);
  const std::vector<int> key = reader.channels().many(static_cast<int>(rows[0].size()));
  const std::vector<int> written = reader.channels().many(n);
  const int beta = reader.channels().one();  // 1: beta 2, 0: beta 1, -1: beta 0
  // Both heads give two ones. The rules add a key, and at values what is written.
  const double active = reader.active() + 4, own_key = 2, pair_key = 4;
  const int width = reader.width(std::max({n + 1, static_cast<int>(rows[0].size()), 13}));

  std::vector<Rule> rules;
  add_pairs(rules, reader, key, rows, {});
  const auto move = [&](const Terms& which, double height) {
    rules.push_back({swap_inputs(reader) + which,
                     kSwapInputs + static_cast<double>(which.size()) - 0.5,
                     0.5,
                     {{beta, height}}});
  };
  move({{reader.line.at(Line::kCommand), 1}}, 1);
  const Term maybe{reader.line.at(Line::kMaybe), 1};
  const double gain = norm_gain(width, active + pair_key);
  for (std::size_t d = 0; d < chance.tenths.size(); ++d) {
    const double p = static_cast<double>(d) / 10;
    const double height = d == 0 ? -1 : d == 10 ? 1 : std::log(p / (1 - p)) / (kSaturated * gain);
    if (d != 5) move({maybe, {chance.tenths[d], 1}}, height);
  }

  const Terms told = {{reader.after.at(ReaderWord::kEquals), 1},
                      {reader.after.at(ReaderWord::kSpace), 1}};
  const Term space = told[1], all{reader.line.at(Line::kAll), 1};
  // After the second norm what is written must be 1/sqrt 2 of what is written otherwise, in a
  // vector that is longer by the longer key.
  const double shared = std::sqrt((active + pair_key) / (2 * (active + own_key + 1) - 1));
  for (std::size_t x = 0; x < count; ++x) {
    const Terms value = {{reader.value[x], 1}}, row = vector_terms(key, rows[x]);
    const std::size_t row_width = rows[x].size();
    const Terms write = {{written[x], 1}};
    const Terms mixed = Terms{space, {pair.moved[x], 1}} + chance.uncertain();
    Terms alone = each(reader.value, 5) + Terms{{told[0].channel, 5}, {space.channel, 5}};
    for (const Term& term : mixed) alone.push_back({term.channel, -term.weight});
    alone.push_back({reader.back2[x], 5});
    // The sum is 11 where both are shown by one key (below) and 12 to 15 where x is shown alone.
    // The second rule takes back what is more than 1.
    rules.push_back({alone, 11.5, 0.5, row});
    rules.push_back({alone, 12, 0.5, vector_terms(key, std::vector<double>(row_width), rows[x])});
    rules.push_back({value + told + each(reader.back2), 2.5, 0.5, write});
    rules.push_back(all_of(value + Terms{all}, write));
    rules.push_back(reader.any_of(reader.value, {all}, reader.counter().values, x, row));
    const Terms shown = mixed + Terms{{reader.back2[x], 1}};
    for (std::size_t y = 0; y < count; ++y) {
      rules.push_back({shown + Terms{{reader.value[y], 1}}, 5.5, 0.5, {{written[y], shared - 1}}});
      if (x == y) continue;
      // One rule for the whole key: of two, each would have its own rounding, and a key that is not
      // quite that of the swap lets S_a + S_b drift.
      rules.push_back({shown + each(reader.value) + Terms{{pair.moved[y], 1}}, 6.5, 0.5,
                       vector_terms(key, rows[x], rows[y])});
    }
  }
  add_still(rules, reader, beta);
  rules.push_back({each(reader.value, 2) + each(reader.back2, -1) +
                       Terms{{told[0].channel, -2}, {space.channel, -1}, {all.channel, -2}},
                   0.5,
                   0.5,
                   {{beta, -1}}});
  add_swap_form(rules, reader);
  reader.add_full_print(rules);

  const int units = rounded_up(rules.size());
  HandWritten model(width, units, lexemes());
  for (int layer = 0; layer < 2; ++layer) model.add_delta_net(kRecallHeads);
  reader.write(model);
  write_recall(model, reader, pair.head(reader));
  write_recall(model, reader, chance.head(reader));
  model.write_rules(0, rules, active);
  const Matrix k = model.matrix(1, "attn.k_proj.weight"), q = model.matrix(1, "attn.q_proj.weight");
  for (std::size_t d = 0; d < key.size(); ++d) {
    const int dimension = static_cast<int>(d);
    k(dimension, key[d]) = kStrong;
    for (std::size_t x = 0; x < count; ++x)
      q(dimension, reader.back1[x]) = q(dimension, reader.asked[x]) = kWeak * rows[x][d];
  }
  model.matrix(1, "attn.b_proj.weight")(0, beta) = kSaturated;
  write_values(model, reader, written);
  reader.write_head(model);
  return {delta_net_config(model.width(), units, false, kRecallHeads), model.finish()};
}

}  // namespace shellgame
