#include "shellgame/programs/parse.h"

#include <algorithm>

#include "shellgame/programs/parser.h"

namespace shellgame {

const Word& Parser::word(std::size_t ahead) const {
  return example_.words[std::min(at_ + ahead, example_.words.size() - 1)];
}

bool Parser::is(std::string_view text, std::size_t ahead) const {
  const Word& w = word(ahead);
  return (w.kind == Kind::kName || w.kind == Kind::kOperator) && w.text == text;
}

bool Parser::take(std::string_view text) {
  if (!is(text)) return false;
  ++at_;
  return true;
}

std::string Parser::describe(const Word& w) const {
  if (w.kind == Kind::kEnd) return "the end of the statement";
  if (w.kind == Kind::kNewline) return "the end of the line";
  if (w.kind == Kind::kString) return fmt::format("the string '{}'", w.text);
  return fmt::format("'{}'", w.text);
}

void Parser::fail_here(const std::string& sentence) const {
  fail_at(file_, word().place, sentence);
}

void Parser::expect(std::string_view text) {
  if (!take(text)) fail_here(fmt::format("'{}' must come here, not {}", text, describe(word())));
}

Program Parser::run() {
  while (reader_.next(example_)) example();
  if (!names_ && variables_.empty()) {
    fail_at(file_, reader_.place(),
            "a trace must give its variables a first value, and this one has none");
  }
  fix_names();
  return std::move(program_);
}

void Parser::example() {
  at_ = 0;
  if (word().kind == Kind::kEnd) fail_here("a prompt must be followed by a statement");
  statements();
  if (!example_.output.empty() && !output_taken_) {
    fail_at(file_, example_.output[0].place, "only print may be followed by an output line");
  }
  output_taken_ = false;
}

void Parser::read_more(std::string_view examples) {
  if (names_) {
    program_.clear_events();
    table_->permutes.clear();
    table_->mixtures.clear();
  }
  reader_ = ExampleReader(examples, file_);
  while (reader_.next(example_)) example();
}

void Parser::statements() {
  if (is("if")) {
    choose();
  } else if (is("def")) {
    define();
  } else {
    simple();
    while (take(";") && word().kind != Kind::kEnd && word().kind != Kind::kNewline) simple();
  }
  while (word().kind == Kind::kNewline) ++at_;  // a bare `...` closes a block
  if (word().kind != Kind::kEnd)
    fail_here(fmt::format("the statement must end here, but {} follows", describe(word())));
}

void Parser::simple() {
  if (is("from")) return import();
  if (is("print")) return print();
  if (is("assert")) return check();
  assignment();
}

void Parser::import() {
  expect("from");
  const Word module = word();
  ++at_;
  expect("import");
  do {
    import_name(module);
  } while (take(","));
}

void Parser::import_name(const Word& module) {
  const Word name = word();
  struct Known {
    std::string_view module, name;
    Import import;
  };
  static constexpr Known kKnown[] = {{"random", "random", Import::kRandom},
                                     {"random", "sample", Import::kSample},
                                     {"os", "environ", Import::kEnviron},
                                     {"service", "fetch", Import::kFetch},
                                     {"service", "start", Import::kStart}};
  for (const Known& known : kKnown) {
    if (module.text == known.module && name.text == known.name && name.kind == Kind::kName) {
      ++at_;
      program_.add_import(known.import);
      imported_[static_cast<std::size_t>(known.import)] = true;
      return;
    }
  }
  fail_at(file_, module.place,
          "an import must be random or sample from random, environ from os, fetch or start from "
          "service");
}

void Parser::need_import(Import import, std::string_view line, Place place) const {
  if (!imported_[static_cast<std::size_t>(import)]) {
    fail_at(file_, place, fmt::format("'{}' must come before this line", line));
  }
}

void Parser::assignment() {
  const std::vector<Word> targets = name_list();
  const Word equals = word();
  expect("=");
  if (word().kind == Kind::kNumber || word().kind == Kind::kString || is("-") ||
      ((is("(") || is("[")) &&
       (word(1).kind == Kind::kNumber || word(1).kind == Kind::kString || is("-", 1)))) {
    return first_values(targets, equals.place);
  }
  if (is("sample") || is("start")) return unknown_start(targets);
  if (word().kind == Kind::kName && word().text.starts_with("work") && is("(", 1))
    return call(targets);
  fix_names();
  program_.add_permute(add_permute(finish_permute(targets)));
}

std::vector<Word> Parser::name_list() {
  std::vector<Word> names;
  const std::string_view close = take("(") ? ")" : take("[") ? "]" : "";
  for (;;) {
    const Word& w = word();
    if (w.kind != Kind::kName) {
      fail_here(fmt::format("a variable must come here, not {}", describe(w)));
    }
    if (!is_variable_name(w.text))
      fail_here(fmt::format("'{}' is not a variable of the trace language", w.text));
    names.push_back(w);
    ++at_;
    if (!take(",")) break;
    if (word().kind != Kind::kName) break;  // a trailing comma
  }
  if (!close.empty()) expect(close);
  return names;
}

Value Parser::literal() {
  const Word w = word();
  if (w.kind == Kind::kString) {
    if (!is_value_string(w.text)) {
      fail_here(fmt::format("a value must be of a-z, 0-9, '_' and '-', not '{}'", w.text));
    }
    ++at_;
    return {std::string(w.text), true};
  }
  const bool negative = take("-");
  const Word number = word();
  const bool whole =
      number.kind == Kind::kNumber && number.text.size() <= 18 &&
      std::ranges::all_of(number.text, [](char c) { return c >= '0' && c <= '9'; }) &&
      (number.text[0] != '0' || (number.text.size() == 1 && !negative));
  if (!whole)
    fail_here(fmt::format("a value must be a whole number or a string, not {}", describe(number)));
  ++at_;
  return {(negative ? "-" : "") + std::string(number.text), false};
}

std::vector<Value> Parser::literal_list(std::string_view close) {
  std::vector<Value> values;
  while (!is(close)) {
    values.push_back(literal());
    if (!take(",")) break;
  }
  return values;
}

void Parser::add_first_value(const Word& name, Value value, Place place) {
  if (names_) {
    fail_at(file_, name.place,
            fmt::format("'{}' may get a constant only before the first command or reveal: later "
                        "it would destroy a value",
                        name.text));
  }
  if (variable_places_.contains(name.text)) {
    fail_at(file_, name.place, fmt::format("'{}' must get its first value once", name.text));
  }
  for (const FirstValue& other : first_) {
    if (other.value.text == value.text) {
      fail_at(file_, place,
              fmt::format("each variable must hold a value of its own, and {} is taken",
                          value.literal()));
    }
  }
  if (first_.size() >= kMostVariables) {
    fail_at(file_, place, fmt::format("a program must have at most {} variables", kMostVariables));
  }
  variable_places_.emplace(name.text, name.place);
  variables_.emplace_back(name.text);
  first_.push_back({std::string(name.text), std::move(value), program_.events().size()});
}

void Parser::first_values(const std::vector<Word>& targets, Place place) {
  const std::string_view close = take("(") ? ")" : take("[") ? "]" : "";
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (k > 0) expect(",");
    const Place at = word().place;
    add_first_value(targets[k], literal(), at);
  }
  if (!close.empty()) {
    take(",");  // a trailing one
    expect(close);
  }
  if (is(",")) fail_at(file_, place, "both sides of '=' must have the same length");
}

void Parser::fix_names() {
  if (names_) return;
  std::vector<Value> values;
  for (const FirstValue& first : first_) values.push_back(first.value);
  if (variables_.empty()) fail_here("variables must get their initial values before they are used");
  names_ = std::make_shared<Names>(variables_, std::move(values));
  std::vector<VariableId> variables;
  std::vector<ValueId> order;
  for (const FirstValue& first : first_) {
    variables.push_back(*names_->find_variable(first.name));
    order.push_back(*names_->find_value(first.value));
  }
  // So far there are only imports and definitions; the initial values go between them, where they
  // stood.
  Program complete(names_, table_);
  std::size_t next = 0;
  const auto add_values_before = [&](std::size_t position) {
    for (; next < first_.size() && first_[next].position <= position; ++next) {
      if (!unknown_start_) complete.add_assign(variables[next], order[next]);
    }
  };
  for (std::size_t i = 0; i < program_.events().size(); ++i) {
    const Event& event = program_.events()[i];
    add_values_before(i);
    if (event.kind == EventKind::kImport) complete.add_import(static_cast<Import>(event.form));
    if (event.kind == EventKind::kDefine) complete.add_define(event.at);
  }
  add_values_before(program_.events().size());
  if (unknown_start_) complete.add_start(*unknown_start_, variables, order);
  program_ = std::move(complete);
}

VariableId Parser::variable(const Word& w) const {
  const auto found = names_->find_variable(w.text);
  if (!found)
    fail_at(file_, w.place, fmt::format("'{}' must get a first value before it is used", w.text));
  return *found;
}

Permute Parser::finish_permute(const std::vector<Word>& targets) {
  const Place right = word().place;
  const std::vector<Word> sources = name_list();
  Permute permute;
  for (const Word& w : targets) permute.targets.push_back(variable(w));
  for (const Word& w : sources) permute.sources.push_back(variable(w));
  std::vector<VariableId> left = permute.targets, rest = permute.sources;
  std::ranges::sort(left);
  std::ranges::sort(rest);
  if (std::ranges::adjacent_find(left) != left.end()) {
    fail_at(file_, targets[0].place, "a variable must stand once on the left of '='");
  }
  if (left != rest) {
    fail_at(file_, right,
            "the right side must hold the same variables as the left, each once: otherwise a "
            "value is lost");
  }
  return permute;
}

std::uint32_t Parser::add_permute(Permute permute) {
  table_->permutes.push_back(std::move(permute));
  return static_cast<std::uint32_t>(table_->permutes.size() - 1);
}

Program parse(std::string_view text, const std::string& file) { return Parser(text, file).run(); }

}  // namespace shellgame
