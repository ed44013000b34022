// The parser's uncertain part: unknown starts, branches on hidden numbers, functions whose work is
// skipped.
#include <algorithm>
#include <charconv>

#include "shellgame/programs/parser.h"

namespace shellgame {

void Parser::unknown_start(const std::vector<Word>& targets) {
  const Word callee = word();
  const bool sampled = callee.text == "sample";
  need_import(sampled ? Import::kSample : Import::kStart,
              sampled ? "from random import sample" : "from service import start", callee.place);
  if (names_ || !variables_.empty())
    fail_here("an unknown start must be the first and only assignment of values");
  ++at_;
  expect("(");
  const std::string_view close = sampled && take("[") ? "]" : ")";
  if (sampled && close == ")") expect("(");
  const Place place = word().place;
  const std::vector<Value> values = literal_list(close);
  expect(close);
  if (sampled) {
    expect(",");
    if (take("k")) expect("=");
    const Word k = word();
    if (k.text != std::to_string(values.size())) {
      fail_here(
          fmt::format("k must be the number of values, {}, not {}", values.size(), describe(k)));
    }
    ++at_;
    expect(")");
  }
  if (values.size() != targets.size()) {
    fail_at(file_, place,
            fmt::format("there must be a value for each variable: {} variables, {} values",
                        targets.size(), values.size()));
  }
  for (std::size_t k = 0; k < values.size(); ++k) add_first_value(targets[k], values[k], place);
  unknown_start_ = sampled ? Condition::kRandom : Condition::kService;
  fix_names();
}

Condition Parser::hidden_number() {
  const Word w = word();
  if (take("random")) {
    need_import(Import::kRandom, "from random import random", w.place);
    expect("(");
    expect(")");
    return Condition::kRandom;
  }
  if (take("fetch")) {
    need_import(Import::kFetch, "from service import fetch", w.place);
    expect("(");
    expect(")");
    return Condition::kService;
  }
  if (take("float")) {
    need_import(Import::kEnviron, "from os import environ", w.place);
    expect("(");
    expect("environ");
    expect("[");
    const std::string next = fmt::format("LOAD_{}", environment_ + 1);
    if (word().kind != Kind::kString || word().text != next) {
      fail_here(
          fmt::format("the hidden variable must be '{}', the next one, not {}: each uncertain "
                      "command has its own",
                      next, describe(word())));
    }
    ++at_;
    ++environment_;
    expect("]");
    expect(")");
    return Condition::kEnvironment;
  }
  fail_here(fmt::format(
      "a hidden number must come here (random(), fetch() or float(environ['LOAD_1'])), not {}",
      describe(w)));
}

double Parser::threshold(const std::vector<double>& before) {
  const Word w = word();
  double number = -1;
  if (w.kind == Kind::kNumber) {
    const auto [end, error] = std::from_chars(w.text.data(), w.text.data() + w.text.size(), number);
    if (error != std::errc() || end != w.text.data() + w.text.size()) number = -1;
  }
  if (!(number >= 0 && number <= 1))
    fail_here(fmt::format("a threshold must be a number from 0 to 1, not {}", describe(w)));
  if (!before.empty() && !(number > before.back())) {
    fail_here(fmt::format("thresholds must grow, and {} does not exceed the one before", w.text));
  }
  ++at_;
  return number;
}

Permute Parser::branch() {
  expect(":");
  if (word().kind == Kind::kNewline) ++at_;
  if (take("pass")) return {};
  fix_names();
  const std::vector<Word> targets = name_list();
  expect("=");
  return finish_permute(targets);
}

void Parser::choose() {
  fix_names();
  expect("if");
  Mixture mixture;
  bool shared = false;
  if (take("(")) {
    shared = true;
    expect("draw");
    expect(":=");
  }
  mixture.source = hidden_number();
  if (shared) expect(")");
  expect("<");
  mixture.thresholds.push_back(threshold({}));
  mixture.outcomes.push_back(branch());
  bool closed = false;
  while (word().kind == Kind::kNewline && !closed) {
    if (is("elif", 1)) {
      at_ += 2;
      if (!shared)
        fail_here(
            "elif must compare a number drawn once: write `if (draw := random()) < ...` and "
            "`elif draw < ...`");
      expect("draw");
      expect("<");
      mixture.thresholds.push_back(threshold(mixture.thresholds));
      mixture.outcomes.push_back(branch());
    } else if (is("else", 1)) {
      at_ += 2;
      mixture.outcomes.push_back(branch());
      closed = true;
    } else {
      break;
    }
  }
  if (!closed) mixture.outcomes.push_back({});
  table_->mixtures.push_back(std::move(mixture));
  program_.add_choose(static_cast<std::uint32_t>(table_->mixtures.size() - 1));
}

std::vector<VariableId> Parser::parameters(std::size_t arity, std::string_view close) {
  std::vector<VariableId> order;
  while (!is(close)) {
    const Word w = word();
    std::size_t number = 0;
    if (w.kind == Kind::kName && w.text.size() > 1 && w.text[0] == 'x' && w.text[1] != '0') {
      const auto [end, error] =
          std::from_chars(w.text.data() + 1, w.text.data() + w.text.size(), number);
      if (error != std::errc() || end != w.text.data() + w.text.size()) number = 0;
    }
    if (number == 0 || number > std::min(arity, kMostVariables)) {
      fail_here(fmt::format("a parameter x1, x2, ... must come here, not {}", describe(w)));
    }
    order.push_back(static_cast<VariableId>(number - 1));
    ++at_;
    if (!take(",")) break;
  }
  return order;
}

void Parser::define() {
  expect("def");
  const std::string next = fmt::format("work{}", table_->definitions.size() + 1);
  if (!take(next))
    fail_here(fmt::format("the function must be called {}, the next one, not {}", next,
                          describe(word())));
  expect("(");
  const Place place = word().place;
  const std::vector<VariableId> declared = parameters(kMostVariables, ")");
  for (std::size_t k = 0; k < declared.size(); ++k) {
    if (declared[k] != k) fail_at(file_, place, "parameters must be x1, x2, ... in this order");
  }
  if (declared.empty()) fail_at(file_, place, "a function must have at least one parameter");
  expect(")");
  expect(":");
  if (word().kind == Kind::kNewline) ++at_;
  Definition definition;
  definition.arity = static_cast<std::uint16_t>(declared.size());
  Mixture& mixture = definition.mixture;
  const bool shared = take("draw");
  const auto hidden = [&] {
    const Place at = word().place;
    const Condition source = hidden_number();
    if (source == Condition::kEnvironment) {
      fail_at(file_, at,
              "a function must draw anew at each call: random() or fetch(), not a variable that "
              "stays the same");
    }
    return source;
  };
  if (shared) {
    expect("=");
    mixture.source = hidden();
    if (!take(";")) {
      if (word().kind != Kind::kNewline) expect(";");
      ++at_;
    }
  }
  expect("return");
  for (;;) {
    expect("(");
    const Place tuple = word().place;
    Permute outcome;
    outcome.sources = parameters(declared.size(), ")");
    outcome.targets = declared;
    std::vector<VariableId> sorted = outcome.sources;
    std::ranges::sort(sorted);
    if (sorted != declared)
      fail_at(file_, tuple, "a function must return all its parameters, each once");
    expect(")");
    mixture.outcomes.push_back(std::move(outcome));
    if (!take("if")) break;
    if (shared) {
      expect("draw");
    } else if (mixture.thresholds.empty()) {
      mixture.source = hidden();
    } else {
      fail_here(
          "a second condition must compare a number drawn once: start with `draw = random();`");
    }
    expect("<");
    mixture.thresholds.push_back(threshold(mixture.thresholds));
    expect("else");
  }
  if (mixture.thresholds.empty())
    fail_here("a function must choose by a hidden number: `if random() < 0.5 else`");
  table_->definitions.push_back(std::move(definition));
  program_.add_define(static_cast<std::uint32_t>(table_->definitions.size() - 1));
}

void Parser::call(const std::vector<Word>& targets) {
  fix_names();
  const Word callee = word();
  std::size_t number = 0;
  const auto [end, error] =
      std::from_chars(callee.text.data() + 4, callee.text.data() + callee.text.size(), number);
  if (error != std::errc() || end != callee.text.data() + callee.text.size() || number == 0 ||
      number > table_->definitions.size() || number > 65535) {
    fail_here(fmt::format("'{}' must be defined before it is called", callee.text));
  }
  ++at_;
  expect("(");
  const Place place = word().place;
  const std::vector<Word> arguments = name_list();
  expect(")");
  std::vector<VariableId> left, right;
  for (const Word& w : targets) left.push_back(variable(w));
  for (const Word& w : arguments) right.push_back(variable(w));
  if (left != right)
    fail_at(file_, place, "the arguments must be the variables on the left, in the same order");
  std::ranges::sort(right);
  if (std::ranges::adjacent_find(right) != right.end())
    fail_at(file_, place, "an argument must stand once");
  const std::size_t arity = table_->definitions[number - 1].arity;
  if (left.size() != arity) {
    fail_at(file_, place,
            fmt::format("{} takes {} variables, not {}", callee.text, arity, left.size()));
  }
  program_.add_call(static_cast<std::uint16_t>(number - 1), left);
}

}  // namespace shellgame
