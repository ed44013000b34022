// The parser's inside: one class walks the words of each example. Names are known only when all
// initial values are, so that they are collected first and turned into indices from then on
// (fix_names). Its parts: parse.cpp (statements, names, certain commands), parse_uncertain.cpp,
// parse_evidence.cpp. Users include parse.h.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/programs/lexer.h"
#include "shellgame/programs/program.h"

namespace shellgame {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file)
      : reader_(text, file), file_(file), table_(std::make_shared<CommandTable>()) {}
  Program run();

  // For a text that comes in parts (stream_parser.h): reads whole examples, whose events program()
  // then has, and forgets what was read before but for names, imports and definitions.
  void read_more(std::string_view examples);
  const Program& program() const { return program_; }
  // The variables of `print(...)`, whose output is not there yet.
  std::vector<VariableId> printed_variables(std::string_view example, bool& labelled);
  // The variable of `assert v ==`; none for another line.
  std::optional<VariableId> asserted_variable(std::string_view example);

 private:
  using Kind = Word::Kind;

  void example();

  // Words.
  const Word& word(std::size_t ahead = 0) const;
  bool is(std::string_view text, std::size_t ahead = 0) const;
  bool take(std::string_view text);
  std::string describe(const Word& w) const;
  [[noreturn]] void fail_here(const std::string& sentence) const;
  void expect(std::string_view text);

  // Statements, names, certain commands.
  void statements();
  void simple();
  void import();
  void import_name(const Word& module);
  void need_import(Import import, std::string_view line, Place place) const;
  // `a = 1`, `a, b = b, a`, `a, b = work1(a, b)`, `a, b = sample(...)`: what follows '=' decides.
  void assignment();
  std::vector<Word> name_list();
  Value literal();
  std::vector<Value> literal_list(std::string_view close);
  void add_first_value(const Word& name, Value value, Place place);
  void first_values(const std::vector<Word>& targets, Place place);
  // Names are complete at the first event that uses them; the assignments so far become events.
  void fix_names();
  VariableId variable(const Word& w) const;
  // The right side of `targets = ...`.
  Permute finish_permute(const std::vector<Word>& targets);
  std::uint32_t add_permute(Permute permute);

  // Uncertain commands and starts. An unknown start, `sample((1, 2, 3), k=3)` or `start(1, 2, 3)`,
  // gives all variables at once, in an order that the text does not show.
  void unknown_start(const std::vector<Word>& targets);
  Condition hidden_number();
  double threshold(const std::vector<double>& before);
  // The command of a branch, on the same line or alone on the next.
  Permute branch();
  void choose();
  std::vector<VariableId> parameters(std::size_t arity, std::string_view close);
  // def workK(x1, ..): [draw = random();] return (..) if random() < p else (..)
  void define();
  void call(const std::vector<Word>& targets);

  // Evidence.
  void print();
  std::vector<VariableId> print_arguments(bool& labelled);
  // Values hold no blanks, so that the output line splits at them.
  std::vector<ValueId> output_values(bool labelled, const std::vector<VariableId>& variables) const;
  ValueId known_value();
  void check();

  ExampleReader reader_;
  std::string file_;
  Example example_;
  std::size_t at_ = 0;
  bool output_taken_ = false;
  std::vector<std::string> variables_;
  std::map<std::string, Place, std::less<>> variable_places_;
  struct FirstValue {
    std::string name;
    Value value;
    std::size_t position;  // events before it
  };
  std::vector<FirstValue> first_;
  std::optional<Condition> unknown_start_;
  std::array<bool, 5> imported_{};
  std::uint64_t environment_ = 0;
  std::shared_ptr<const Names> names_;
  std::shared_ptr<CommandTable> table_;
  Program program_{nullptr, table_};
};

}  // namespace shellgame
