// The parser's evidence: print with its output line, and assert.
#include <algorithm>

#include "shellgame/programs/parser.h"

namespace shellgame {

std::vector<VariableId> Parser::print_arguments(bool& labelled) {
  fix_names();
  const Place start = word().place;
  expect("print");
  expect("(");
  labelled = word().kind == Kind::kString;
  std::vector<VariableId> variables;
  do {
    std::string_view label;
    if (labelled) {
      if (word().kind != Kind::kString)
        fail_here(fmt::format("a label must come before each variable, not {}", describe(word())));
      label = word().text;
      ++at_;
      expect(",");
    }
    const Word w = word();
    if (w.kind != Kind::kName)
      fail_here(fmt::format("a variable must come here, not {}", describe(w)));
    if (labelled && label != w.text)
      fail_here(fmt::format("the label '{}' must be the variable's own name, '{}'", label, w.text));
    variables.push_back(variable(w));
    ++at_;
  } while (take(",") && !is(")"));
  expect(")");
  if (variables.size() > kMostVariables) fail_at(file_, start, "print has too many arguments");
  return variables;
}

std::vector<VariableId> Parser::printed_variables(std::string_view example, bool& labelled) {
  reader_ = ExampleReader(example, file_);
  if (!reader_.next(example_)) return {};
  at_ = 0;
  return print_arguments(labelled);
}

std::optional<VariableId> Parser::asserted_variable(std::string_view example) {
  reader_ = ExampleReader(example, file_);
  if (!reader_.next(example_)) return {};
  at_ = 0;
  if (!is("assert") || !is("==", 2) || word(1).kind != Kind::kName) return {};
  fix_names();
  return variable(word(1));
}

void Parser::print() {
  const Place start = word().place;
  bool labelled = false;
  const std::vector<VariableId> variables = print_arguments(labelled);
  if (example_.output.empty()) fail_at(file_, start, "print must be followed by its output line");
  if (output_taken_) fail_at(file_, start, "a line may hold one print only");
  if (example_.output.size() > 1)
    fail_at(file_, example_.output[1].place, "print must have one output line");
  output_taken_ = true;
  program_.add_print(labelled, variables, output_values(labelled, variables));
}

std::vector<ValueId> Parser::output_values(bool labelled,
                                           const std::vector<VariableId>& variables) const {
  const Example::OutputLine& line = example_.output[0];
  std::vector<ValueId> values;
  std::size_t at = 0;
  const auto place = [&] { return Place{line.place.line, at + 1}; };
  const auto next = [&](std::string_view what) {
    if (at > 0) ++at;  // the blank
    if (at >= line.text.size()) {
      fail_at(file_, {line.place.line, line.text.size() + 1},
              fmt::format("the output must go on with {}", what));
    }
    const std::size_t end = std::min(line.text.find(' ', at), line.text.size());
    return line.text.substr(at, end - at);
  };
  for (VariableId v : variables) {
    if (labelled) {
      const std::string_view label = next(fmt::format("'{}'", names_->variable(v)));
      if (label != names_->variable(v)) {
        fail_at(file_, place(),
                fmt::format("the output must name '{}', not '{}'", names_->variable(v), label));
      }
      at += label.size();
    }
    const std::string_view text = next("a value");
    auto found = names_->find_value({std::string(text), false});
    if (!found) found = names_->find_value({std::string(text), true});
    if (!found) fail_at(file_, place(), fmt::format("'{}' is not a value of this trace", text));
    values.push_back(*found);
    at += text.size();
  }
  if (at != line.text.size()) fail_at(file_, place(), "the output must end here");
  return values;
}

ValueId Parser::known_value() {
  const Place place = word().place;
  const Value value = literal();
  const auto found = names_->find_value(value);
  if (!found)
    fail_at(file_, place, fmt::format("{} is not a value of this trace", value.literal()));
  return *found;
}

void Parser::check() {
  fix_names();
  expect("assert");
  if (word().kind != Kind::kName)
    fail_here(fmt::format("a variable must come here, not {}", describe(word())));
  const VariableId v = variable(word());
  ++at_;
  std::vector<ValueId> values;
  if (take("==")) {
    values.push_back(known_value());
    return program_.add_assert(Relation::kEqual, v, values);
  }
  if (take("!=")) {
    values.push_back(known_value());
    return program_.add_assert(Relation::kUnequal, v, values);
  }
  if (!take("in"))
    fail_here(fmt::format("'==', '!=' or 'in' must come here, not {}", describe(word())));
  const std::string_view close = is("[") ? "]" : is("{") ? "}" : ")";
  if (close == ")") {
    expect("(");
  } else {
    ++at_;
  }
  while (!is(close)) {
    values.push_back(known_value());
    if (values.size() > kMostVariables) fail_here("there are more values here than variables");
    if (!take(",")) {
      if (close == ")" && values.size() == 1) fail_here("a tuple of one value must end with ',)'");
      break;
    }
  }
  expect(close);
  if (values.empty()) fail_here("at least one value must be possible");
  program_.add_assert(Relation::kIn, v, values);
}

}  // namespace shellgame
