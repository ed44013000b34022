#include "shellgame/models/exact_reader.h"

#include <cmath>

#include "shellgame/tokens/lexeme_tokenizer.h"

namespace shellgame {
namespace {

constexpr int kLineHead = 0, kCounterHead = 1, kLookHead = 2, kLookTwoHead = 3;
constexpr int kLastTap = 3;

const std::map<std::string, ReaderWord>& words_by_text() {
  static const std::map<std::string, ReaderWord> words = {
      {">>> ", ReaderWord::kPrompt},     {", ", ReaderWord::kComma},
      {" = ", ReaderWord::kEquals},      {" ", ReaderWord::kSpace},
      {" == ", ReaderWord::kSpace},      {"\n", ReaderWord::kNewline},
      {"'", ReaderWord::kQuote},         {"print('", ReaderWord::kPrintOne},
      {"print(", ReaderWord::kPrintAll}, {"if ", ReaderWord::kIf},
      {"elif ", ReaderWord::kOther},     {"else", ReaderWord::kOther},
      {"assert ", ReaderWord::kOther},   {"def work", ReaderWord::kOther},
      {": ", ReaderWord::kColon},        {"random()", ReaderWord::kRandom},
  };
  return words;
}

std::string variable_text(int i) { return std::string(1, static_cast<char>('a' + i)); }
std::string value_text(int i) { return std::to_string(i + 1); }

}  // namespace

TraceReader::TraceReader(const ReaderPlan& plan) : plan_(plan), counter_(plan.variables) {
  const int n = plan.variables;
  constant = channels_.one();
  variable = channels_.many(n);
  value = channels_.many(n);
  for (const ReaderWord w :
       {ReaderWord::kInert, ReaderWord::kPrompt, ReaderWord::kComma, ReaderWord::kEquals,
        ReaderWord::kSpace, ReaderWord::kNewline, ReaderWord::kQuote, ReaderWord::kPrintOne,
        ReaderWord::kPrintAll, ReaderWord::kOther})
    word[w] = channels_.one();
  line[Line::kCommand] = channels_.one();
  if (plan.equals_is_a_side) line[Line::kRight] = channels_.one();
  line[Line::kAll] = channels_.one();
  line[Line::kOther] = channels_.one();
  if (plan.knows_maybe) {
    word[ReaderWord::kIf] = channels_.one();
    line[Line::kMaybe] = channels_.one();
  } else {
    word[ReaderWord::kIf] = word[ReaderWord::kOther];
  }
  if (plan.knows_probability) {
    for (int d = 0; d < 10; ++d)
      digit.push_back(0 < d && d <= n ? value[static_cast<std::size_t>(d) - 1] : channels_.one());
    for (const ReaderWord w : {ReaderWord::kColon, ReaderWord::kRandom}) word[w] = channels_.one();
  } else {
    word[ReaderWord::kColon] = word[ReaderWord::kRandom] = word[ReaderWord::kInert];
  }
  phase = channels_.many(2);
  back1 = channels_.many(n);
  for (const ReaderWord w : plan.previous_words) after[w] = channels_.one();
  back2 = channels_.many(n);
  if (plan.looks_back_three) back3 = channels_.many(n);
  if (plan.constant_length) {
    nothing1_ = channels_.one();
    nothing2_ = channels_.one();
    nothing3_ = channels_.one();
  }
  next_comma = channels_.one();
  next_equals = channels_.one();
  next_newline = channels_.one();
  asked = channels_.many(n);
  answer = channels_.many(n);
}

int TraceReader::width(int head_width) const {
  const int n = plan_.variables;
  int columns = n + static_cast<int>(after.size()) + 1;
  if (plan_.looks_back_three) columns += n + 1;
  int width = 64;
  while (width < channels_.count() || width / plan_.heads < std::max(columns, head_width))
    width *= 2;
  return width;
}

std::vector<int> TraceReader::tokens() const {
  std::vector<int> all = variable;
  all.insert(all.end(), value.begin(), value.end());
  for (const auto& [w, channel] : word) all.push_back(channel);
  all.insert(all.end(), digit.begin(), digit.end());
  return all;
}

Rule TraceReader::rule(const Terms& inputs, const std::vector<Counter::Direction>& directions,
                       std::size_t k, std::size_t first, const Terms& outputs) const {
  const Counter::Test test = Counter::test(directions, k, first, phase);
  double sum = 0;
  for (const Term& term : inputs) sum += std::max(term.weight, 0.0);
  return {inputs + test.inputs, sum + test.threshold, test.margin, outputs};
}

void TraceReader::add_full_print(std::vector<Rule>& rules) const {
  // A variable stands two tokens before the newline that ends the line `print(a, b, c)`, none
  // before the one that ends its output.
  const Term all{line.at(Line::kAll), 1};
  rules.push_back(
      {Terms{all, {word.at(ReaderWord::kNewline), 1}} + each(back2), 2.5, 0.5, {{asked[0], 1}}});
  for (std::size_t k = 1; k < asked.size(); ++k) {
    rules.push_back(
        rule({all, {word.at(ReaderWord::kSpace), 1}}, counter_.spaces, k, 1, {{asked[k], 1}}));
  }
  for (std::size_t k = 0; k + 1 < asked.size(); ++k) {
    rules.push_back(any_of(variable, {all}, counter_.places, k, {{next_comma, 1}}));
    // Where lengths must be constant, values that are shown are written by them.
    if (!plan_.constant_length)
      rules.push_back(any_of(value, {all}, counter_.values, k, {{next_newline, -1}}));
  }
}

Rule TraceReader::any_of(const std::vector<int>& choices, const Terms& inputs,
                         const std::vector<Counter::Direction>& directions, std::size_t k,
                         const Terms& outputs) const {
  Rule result = rule(inputs, directions, k, 0, outputs);
  result.inputs = result.inputs + each(choices);
  result.threshold += 1;
  return result;
}

void TraceReader::write(HandWritten& model) const {
  write_embeddings(model);
  const Matrix q = model.matrix(0, "attn.q_proj.weight");
  for (int h = 0; h < plan_.heads; ++h) q(h * model.width() / plan_.heads, constant) = kStrong;
  write_line(model);
  write_counter(model);
  std::vector<Look> looks = {{1, &back1, &after, nothing1_}};
  if (plan_.looks_back_three) looks.push_back({3, &back3, nullptr, nothing3_});
  write_look_back(model, kLookHead, looks);
  write_look_back(model, kLookTwoHead, {{2, &back2, nullptr, nothing2_}});
}

void TraceReader::write_embeddings(HandWritten& model) const {
  const Matrix embeddings = model.matrix("model.embeddings.weight");
  const auto& tokens = LexemeTokenizer::vocabulary();
  for (int id = 0; id < static_cast<int>(tokens.size()); ++id) {
    const auto found = words_by_text().find(tokens[static_cast<std::size_t>(id)]);
    const ReaderWord w = found == words_by_text().end() ? ReaderWord::kInert : found->second;
    embeddings(id, constant) = kOne;
    embeddings(id, word.at(w)) = kOne;
  }
  const auto stands_for = [&](const std::string& text, int channel) {
    const auto id = static_cast<int>(LexemeTokenizer::id_of(text));
    embeddings(id, word.at(ReaderWord::kInert)) = 0;
    embeddings(id, channel) = kOne;
  };
  for (std::size_t d = 0; d < digit.size(); ++d) stands_for(std::to_string(d), digit[d]);
  for (int i = 0; i < plan_.variables; ++i) {
    const auto k = static_cast<std::size_t>(i);
    stands_for(variable_text(i), variable[k]);
    stands_for(value_text(i), value[k]);
  }
}

// Head 0 remembers the line's kind: one row, written (beta 1) at the words that tell it.
void TraceReader::write_line(HandWritten& model) const {
  const int row = kLineHead;
  const int head_width = model.width() / plan_.heads;
  const Matrix k = model.matrix(0, "attn.k_proj.weight"), v = model.matrix(0, "attn.v_proj.weight");
  const Matrix b = model.matrix(0, "attn.b_proj.weight"), o = model.matrix(0, "attn.o_proj.weight");
  k(row, constant) = kStrong;
  std::map<Line, std::vector<ReaderWord>> told = {
      {Line::kCommand, {ReaderWord::kPrompt}},
      {Line::kAll, {ReaderWord::kPrintAll}},
      {Line::kOther, {ReaderWord::kPrintOne, ReaderWord::kOther}},
  };
  if (plan_.equals_is_a_side) told[Line::kRight] = {ReaderWord::kEquals};
  if (plan_.knows_maybe) told[Line::kMaybe] = {ReaderWord::kIf};
  for (const int channel : tokens()) b(kLineHead, channel) = -kSaturated;
  int column = row;
  for (const auto& [kind, words] : told) {
    for (const ReaderWord w : words) {
      b(kLineHead, word.at(w)) = 0;
      v(column, word.at(w)) = kStrong;
    }
    o(line.at(kind), column++) = kOne / std::sqrt(head_width);
  }
}

// Head 1: two rows and two columns hold the rotation, the query reads the first row.
void TraceReader::write_counter(HandWritten& model) const {
  const int head_width = model.width() / plan_.heads, row = kCounterHead * head_width;
  const Matrix k = model.matrix(0, "attn.k_proj.weight"), v = model.matrix(0, "attn.v_proj.weight");
  const Matrix b = model.matrix(0, "attn.b_proj.weight"), o = model.matrix(0, "attn.o_proj.weight");
  for (const int channel : tokens()) b(kCounterHead, channel) = -kSaturated;
  const auto reflects = [&](int channel, const Counter::Direction& key) {
    for (int i = 0; i < 2; ++i) k(row + i, channel) = kStrong * key[static_cast<std::size_t>(i)];
    b(kCounterHead, channel) = kSaturated;
  };
  for (const int channel : variable) reflects(channel, counter_.first_key);
  for (const int channel : value) reflects(channel, counter_.first_key);
  for (const ReaderWord w : {ReaderWord::kComma, ReaderWord::kEquals, ReaderWord::kSpace})
    reflects(word.at(w), counter_.second_key);
  int i = 0;
  for (const ReaderWord w : {ReaderWord::kNewline, ReaderWord::kPrompt}) {
    b(kCounterHead, word.at(w)) = 0;
    k(row + i, word.at(w)) = kStrong;
    v(row + i, word.at(w)) = kStrong;
    o(phase[static_cast<std::size_t>(i)], row + i) = kOne / std::sqrt(head_width);
    ++i;
  }
}

void TraceReader::write_look_back(HandWritten& model, int head,
                                  const std::vector<Look>& looks) const {
  const int head_width = model.width() / plan_.heads, row = head * head_width;
  const Matrix v = model.matrix(0, "attn.v_proj.weight");
  const Matrix o = model.matrix(0, "attn.o_proj.weight");
  const Matrix taps = model.matrix(0, "attn.v_conv1d.weight");
  model.matrix(0, "attn.k_proj.weight")(row, constant) = kStrong;  // one row, beta 1 always
  // Each group has one column that is on, and the output norm makes their squares' mean 1.
  const double share =
      kOne / std::sqrt(static_cast<double>(head_width) / static_cast<double>(looks.size()));
  int column = row;
  for (const Look& look : looks) {
    const auto next = [&](int from, int to) {
      taps(column, kLastTap) = 0;
      taps(column, kLastTap - look.tokens) = 1;
      v(column, from) = kStrong;
      if (to >= 0) o(to, column) = share;
      ++column;
    };
    const int nothing = row + head_width - 1 - static_cast<int>(&look - looks.data());
    taps(nothing, kLastTap) = 0;
    taps(nothing, kLastTap - look.tokens) = 1;
    for (const int channel : tokens()) v(nothing, channel) = kStrong;
    for (const int channel : variable) v(nothing, channel) = 0;
    if (look.nothing >= 0) o(look.nothing, nothing) = share;
    for (std::size_t i = 0; i < variable.size(); ++i) next(variable[i], (*look.variables)[i]);
    if (look.words == nullptr) continue;
    for (const auto& [w, channel] : *look.words) {
      v(nothing, word.at(w)) = 0;
      next(word.at(w), channel);
    }
  }
}

void TraceReader::write_head(HandWritten& model) const {
  const Matrix head = model.matrix("lm_head.weight");
  // Levels, in steps of 16 times a channel's height after the norm (2 to 4): the more certain rule
  // wins. The answer moves values by one step, so it decides among values only.
  constexpr double kStep = 16;
  const auto expect = [&](int channel, const std::string& token, double steps) {
    head(static_cast<int>(LexemeTokenizer::id_of(token)), channel) += kStep * steps;
  };
  const auto expect_variable = [&](int channel, double steps) {
    for (int i = 0; i < plan_.variables; ++i) expect(channel, variable_text(i), steps);
  };
  const auto expect_value = [&](int channel, double steps) {
    for (int i = 0; i < plan_.variables; ++i) expect(channel, value_text(i), steps);
  };
  for (const char* begin : {"print('", "print(", "assert "})
    expect(word.at(ReaderWord::kPrompt), begin, 3);
  for (const ReaderWord w : {ReaderWord::kPrompt, ReaderWord::kComma, ReaderWord::kEquals,
                             ReaderWord::kPrintOne, ReaderWord::kPrintAll, ReaderWord::kOther})
    expect_variable(word.at(w), 3);
  expect_value(word.at(ReaderWord::kSpace), 3);
  expect_value(word.at(ReaderWord::kEquals), 1.5);
  expect(word.at(ReaderWord::kNewline), ">>> ", 1.5);
  expect(word.at(ReaderWord::kQuote), ", ", 3);
  expect(word.at(ReaderWord::kInert), "\n", 3);
  expect(next_comma, ", ", 6);
  expect(next_equals, " = ", 6);
  expect(next_newline, "\n", 6);
  expect(after.at(ReaderWord::kPrintOne), "'", 6);
  // A variable after a newline begins an output; a prompt after one does not.
  expect(after.at(ReaderWord::kNewline), " ", 7);
  expect(word.at(ReaderWord::kPrompt), " ", -7);
  expect_value(asked[0], 5);
  expect(line.at(Line::kAll), " ", 1);
  for (int i = 0; i < plan_.variables; ++i) {
    const auto k = static_cast<std::size_t>(i);
    expect(answer[k], value_text(i), 1);
    expect(value[k], "\n", 6);
    expect(variable[k], ")", 3);
    expect(back2[k], variable_text(i), 2);  // print('a', | a   and   print('a', a)\n | a
    // a, | b, ... in a permutation of all, and a, b = | b, a in a swap.
    const int follower = plan_.equals_is_a_side ? i + 1 : i;
    if (follower < plan_.variables) expect(back1[k], variable_text(follower), 0.5);
  }
}

}  // namespace shellgame
