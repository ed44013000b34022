// The exact belief of an unknown start that certain swaps move, as a linear recurrence in l, the
// logarithm of each order's chance. The state holds -l in units of some 40 nats: 0 where the order
// is possible, 1 where it is excluded. The empty state is the uniform belief.
//   `a, b = b, a`   l <- P l: a reflection for each pair of orders that the swap exchanges,
//                   at the `=` and the tokens after it
//   `a 2`           log Z: each order that has not 2 at a is set to 1 (beta 1), at the value and
//                   the tokens after it. (Two reflections along one key would add instead, at the
//                   price of numbers that grow with every reveal, and rounding with them.)
// A head for each value: all hold the same, and are asked for the orders that have this value at
// the variable. Beside their sum they read a row that holds 1, so that the output norm keeps it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "shellgame/models/exact_recall.h"
#include "shellgame/models/exact_recipes.h"

namespace shellgame {
namespace {

constexpr int kShownHead = kPairHead + 1, kSinceEqualsHead = kPairHead + 2,
              kSinceValueHead = kPairHead + 3;
constexpr int kReach = 4;  // taps of a convolution

using Orders = std::vector<std::vector<std::size_t>>;  // the value of each variable

Orders all_orders(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Orders orders;
  do orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// The orders that a swap of x and y exchanges, each pair once.
std::vector<std::pair<std::size_t, std::size_t>> exchanged(const Orders& orders, std::size_t x,
                                                           std::size_t y) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    std::vector<std::size_t> order = orders[i];
    std::swap(order[x], order[y]);
    const auto j =
        static_cast<std::size_t>(std::find(orders.begin(), orders.end(), order) - orders.begin());
    if (i < j) pairs.emplace_back(i, j);
  }
  return pairs;
}

// The last value that a line showed, and of which variable: `a 2`, `a = 2`, `assert a == 2`.
RecallHead shown_head(const TraceReader& reader, const std::vector<int>& variable,
                      const std::vector<int>& value) {
  RecallHead head{.head = kShownHead,
                  .written = reader.value,
                  .rows = {{.key = each(reader.value)}},
                  .columns = {},
                  .lit = 2};
  // A column is on if all three hold: a value, before it a space or `=`, before that a variable.
  const Terms between = {{reader.word.at(ReaderWord::kSpace), 2},
                         {reader.word.at(ReaderWord::kEquals), 2}};
  for (std::size_t x = 0; x < variable.size(); ++x)
    head.columns.push_back({between + each(reader.value, -3) + Terms{{reader.variable[x], 2}},
                            {{0}, {1}, {2}},
                            variable[x]});
  for (std::size_t v = 0; v < value.size(); ++v) {
    Terms sources = between + each(reader.variable, 2) + each(reader.value, -5);
    sources.push_back({reader.value[v], -3});  // the later one counts
    head.columns.push_back({sources, {{0}, {1}, {2}}, value[v]});
  }
  return head;
}

// How many tokens ago the last of some words stood, as long as a convolution sees it.
RecallHead since_head(const TraceReader& reader, int place, const std::vector<int>& words,
                      const std::vector<int>& since, int long_ago) {
  RecallHead head{.head = place,
                  .written = reader.tokens(),
                  .rows = {{.key = {{reader.constant, 1}}}},
                  .columns = {},
                  .lit = 1};
  RecallColumn none{each(words, -1) + Terms{{reader.constant, 1.0 / kReach}}, {}, long_ago};
  for (std::size_t s = 0; s < since.size(); ++s) {
    head.columns.push_back({each(words), {{static_cast<int>(s)}}, since[s]});
    none.taps.push_back({static_cast<int>(s)});
  }
  head.columns.push_back(none);
  return head;
}

}  // namespace

ExactModel exact_log(const ExactOptions& options) {
  const auto n = static_cast<std::size_t>(options.variables);
  const Orders orders = all_orders(n);
  const VectorRows rows = paired_rows(static_cast<int>(orders.size()));
  // Of the orders, how many have a given value at a variable.
  const double kept = static_cast<double>(orders.size()) / static_cast<double>(n);
  TraceReader reader(
      {.variables = options.variables,
       .heads = kRecallHeads,
       .constant_length = true,
       .previous_words = {ReaderWord::kEquals, ReaderWord::kPrintOne, ReaderWord::kNewline}});
  Channels& channels = reader.channels();
  const LastPair pair(reader);
  const std::vector<int> shown = channels.many(options.variables);
  const std::vector<int> seen = channels.many(options.variables);
  const std::vector<int> since_equals = channels.many(kReach), since_value = channels.many(kReach);
  const int no_equals = channels.one(), no_value = channels.one();
  const std::vector<int> key = channels.many(static_cast<int>(orders.size()));
  const int one_key = channels.one();   // of the row that holds 1
  const int excluded = channels.one();  // what is written into the others
  const int one = channels.one();       // and into this one
  const int beta = channels.one();      // 1: beta 2, 0: beta 1
  const std::vector<int> sum = channels.many(options.variables);
  const std::vector<int> one_read = channels.many(options.variables);
  const int width = reader.width(static_cast<int>(orders.size()) + 1);
  // All four heads give one or two ones. After the second norm what is written into an excluded row
  // must be what is written into the row of 1, in a vector that is longer by the longer key.
  const double active = reader.active() + 6, one_square = active + 2;
  const double as_one = std::sqrt((active + 2) / (one_square - 1));

  std::vector<Rule> rules;
  for (std::size_t x = 0; x < n; ++x) {
    for (std::size_t y = 0; y < x; ++y) {
      const auto pairs = exchanged(orders, x, y);
      for (std::size_t s = 0; s < pairs.size(); ++s)
        rules.push_back(all_of(
            {{pair.moved[x], 1}, {pair.moved[y], 1}, {since_equals[s], 1}},
            vector_terms(key, rows[pairs[s].first], rows[pairs[s].second]) + Terms{{beta, 1}}));
    }
    for (std::size_t v = 0; v < n; ++v) {
      std::size_t s = 0;
      for (std::size_t i = 0; i < orders.size(); ++i) {
        if (orders[i][x] == v) continue;
        rules.push_back(all_of({{shown[x], 1}, {seen[v], 1}, {since_value[s++], 1}},
                               vector_terms(key, rows[i]) + Terms{{excluded, as_one}}));
      }
    }
  }
  // Where nothing else happens.
  rules.push_back(
      all_of(Terms{{reader.constant, 1}} + each(since_equals, -1) + each(since_value, -1),
             {{one_key, 1}, {one, 1}}));
  add_swap_form(rules, reader);
  reader.add_full_print(rules);

  // A value is gone where all orders that have it are.
  std::vector<Rule> gone;
  for (std::size_t v = 0; v < n; ++v)
    gone.push_back({{{sum[v], 1}, {one_read[v], 0.5 - kept}}, 0, 0.2, {{reader.answer[v], -1}}});

  const int units = rounded_up(std::max(rules.size(), gone.size()));
  HandWritten model(width, units, lexemes());
  for (int layer = 0; layer < 2; ++layer) model.add_delta_net(kRecallHeads);
  reader.write(model);
  write_recall(model, reader, pair.head(reader));
  write_recall(model, reader, shown_head(reader, shown, seen));
  write_recall(model, reader,
               since_head(reader, kSinceEqualsHead, {reader.word.at(ReaderWord::kEquals)},
                          since_equals, no_equals));
  write_recall(model, reader,
               since_head(reader, kSinceValueHead, reader.value, since_value, no_value));
  model.write_rules(0, rules, active);
  model.write_rules(1, gone, active + static_cast<double>(n) + 2);
  const Matrix k = model.matrix(1, "attn.k_proj.weight"), q = model.matrix(1, "attn.q_proj.weight");
  const Matrix v = model.matrix(1, "attn.v_proj.weight"), o = model.matrix(1, "attn.o_proj.weight");
  const Matrix b = model.matrix(1, "attn.b_proj.weight");
  const int head_width = model.width() / kRecallHeads;
  const double height = kOne / std::sqrt(head_width);
  for (std::size_t value = 0; value < n; ++value) {
    const int head = static_cast<int>(value), first = head * head_width;
    const int last = first + static_cast<int>(key.size());
    for (std::size_t d = 0; d < key.size(); ++d) {
      k(first + static_cast<int>(d), key[d]) = kStrong;
      for (std::size_t x = 0; x < n; ++x) {
        double asked = 0;
        for (std::size_t i = 0; i < orders.size(); ++i)
          if (orders[i][x] == value) asked += rows[i][d] / std::sqrt(2.0);
        q(first + static_cast<int>(d), reader.back1[x]) = kWeak * asked;
        q(first + static_cast<int>(d), reader.asked[x]) = kWeak * asked;
      }
    }
    k(last, one_key) = kStrong;
    for (std::size_t x = 0; x < n; ++x) q(last, reader.back1[x]) = q(last, reader.asked[x]) = kWeak;
    v(first, excluded) = kStrong;
    v(first + 1, one) = kStrong;
    o(sum[value], first) = o(one_read[value], first + 1) = height;
    b(head, beta) = kSaturated;
  }
  reader.write_head(model);
  return {delta_net_config(model.width(), units, false, kRecallHeads), model.finish()};
}

}  // namespace shellgame
