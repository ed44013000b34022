#include "shellgame/programs/render.h"

#include <fmt/format.h>

#include "shellgame/programs/line_cache.h"
#include "shellgame/text/python_number.h"

namespace shellgame {
namespace {

class EventWriter {
 public:
  EventWriter(const Program& program, std::uint64_t& environment, std::string& text,
              std::vector<RevealMark>* marks)
      : program_(program),
        names_(program.names()),
        environment_(environment),
        text_(text),
        marks_(marks) {}

  void write(const Event& event) {
    text_ += kPrompt;
    switch (event.kind) {
      case EventKind::kImport:
        import(static_cast<Import>(event.form));
        break;
      case EventKind::kDefine:
        define(event.at);
        break;
      case EventKind::kAssign:
        text_ += names_.variable(program_.variables(event)[0]);
        text_ += " = ";
        text_ += names_.value(program_.values(event)[0]).literal();
        break;
      case EventKind::kStart:
        start(event);
        break;
      case EventKind::kPermute:
        permute(program_.table().permutes[event.at]);
        break;
      case EventKind::kChoose:
        choose(program_.table().mixtures[event.at]);
        break;
      case EventKind::kCall:
        call(event);
        break;
      case EventKind::kPrint:
        print(event);
        break;
      case EventKind::kAssert:
        check(event);
        break;
    }
    text_ += '\n';
    if (event.kind == EventKind::kPrint) output(event);
  }

 private:
  void import(Import what) {
    switch (what) {
      case Import::kRandom:
        text_ += "from random import random";
        break;
      case Import::kSample:
        text_ += "from random import sample";
        break;
      case Import::kEnviron:
        text_ += "from os import environ";
        break;
      case Import::kFetch:
        text_ += "from service import fetch";
        break;
      case Import::kStart:
        text_ += "from service import start";
        break;
    }
  }

  void list(std::span<const VariableId> variables) {
    for (std::size_t k = 0; k < variables.size(); ++k) {
      if (k > 0) text_ += ", ";
      text_ += names_.variable(variables[k]);
    }
  }

  void literals(std::span<const ValueId> values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k > 0) text_ += ", ";
      text_ += names_.value(values[k]).literal();
    }
  }

  void parameters(std::span<const VariableId> order) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      fmt::format_to(std::back_inserter(text_), "{}x{}", k > 0 ? ", " : "", order[k] + 1);
    }
    if (order.size() == 1) text_ += ',';  // a tuple of one
  }

  void permute(const Permute& permute) {
    if (permute.is_pass()) {
      text_ += "pass";
      return;
    }
    list(permute.targets);
    text_ += " = ";
    list(permute.sources);
  }

  void hidden_number(Condition source) {
    switch (source) {
      case Condition::kRandom:
        text_ += "random()";
        break;
      case Condition::kEnvironment:
        text_ += fmt::format("float(environ['LOAD_{}'])", ++environment_);
        break;
      case Condition::kService:
        text_ += "fetch()";
        break;
    }
  }

  // A function's outcomes are written from the first parameter on: targets are all of them, in
  // order.
  void define(std::uint32_t number) {
    const Definition& definition = program_.table().definitions[number];
    const Mixture& mixture = definition.mixture;
    std::vector<VariableId> all(definition.arity);
    for (std::uint16_t k = 0; k < definition.arity; ++k) all[k] = k;
    text_ += fmt::format("def work{}(", number + 1);
    for (std::size_t k = 0; k < all.size(); ++k)
      text_ += fmt::format("{}x{}", k > 0 ? ", " : "", k + 1);
    text_ += "): ";
    const bool shared = mixture.thresholds.size() > 1;
    if (shared) {
      text_ += "draw = ";
      hidden_number(mixture.source);
      text_ += "; ";
    }
    text_ += "return ";
    for (std::size_t k = 0; k < mixture.outcomes.size(); ++k) {
      text_ += '(';
      parameters(mixture.outcomes[k].sources);
      text_ += ')';
      if (k == mixture.thresholds.size()) break;
      text_ += " if ";
      if (shared) {
        text_ += "draw";
      } else {
        hidden_number(mixture.source);
      }
      text_ += " < " + python_number(mixture.thresholds[k]) + " else ";
    }
  }

  void start(const Event& event) {
    list(program_.variables(event));
    if (event.count == 1) text_ += ',';
    const auto values = program_.values(event);
    if (static_cast<Condition>(event.form) == Condition::kRandom) {
      text_ += " = sample((";
      literals(values);
      text_ += fmt::format("{}), k={})", values.size() == 1 ? "," : "", values.size());
    } else {
      text_ += " = start(";
      literals(values);
      text_ += ')';
    }
  }

  void choose(const Mixture& mixture) {
    const bool shared = mixture.thresholds.size() > 1;
    text_ += "if ";
    if (shared) text_ += "(draw := ";
    hidden_number(mixture.source);
    if (shared) text_ += ')';
    for (std::size_t k = 0; k < mixture.thresholds.size(); ++k) {
      if (k > 0) {
        text_ += '\n';
        text_ += kContinuation;
        text_ += "elif draw";
      }
      text_ += " < " + python_number(mixture.thresholds[k]) + ": ";
      permute(mixture.outcomes[k]);
    }
    if (mixture.outcomes.back().is_pass()) return;
    text_ += '\n';
    text_ += kContinuation;
    text_ += "else: ";
    permute(mixture.outcomes.back());
  }

  void call(const Event& event) {
    const auto variables = program_.variables(event);
    list(variables);
    if (variables.size() == 1) text_ += ',';
    text_ += fmt::format(" = work{}(", program_.operands(event)[0] + 1);
    list(variables);
    text_ += ')';
  }

  void print(const Event& event) {
    text_ += "print(";
    const auto variables = program_.variables(event);
    for (std::size_t k = 0; k < variables.size(); ++k) {
      const std::string& name = names_.variable(variables[k]);
      if (k > 0) text_ += ", ";
      if (event.form != 0) text_ += "'" + name + "', ";
      text_ += name;
    }
    text_ += ')';
  }

  void output(const Event& event) {
    const auto variables = program_.variables(event);
    const auto values = program_.values(event);
    for (std::size_t k = 0; k < variables.size(); ++k) {
      if (k > 0) text_ += ' ';
      if (event.form != 0) {
        text_ += names_.variable(variables[k]);
        text_ += ' ';
      }
      mark(variables[k], values[k], 0);
      text_ += names_.value(values[k]).text;
    }
    text_ += '\n';
  }

  void check(const Event& event) {
    const VariableId variable = program_.variables(event)[0];
    const auto values = program_.values(event);
    text_ += "assert ";
    text_ += names_.variable(variable);
    switch (static_cast<Relation>(event.form)) {
      case Relation::kEqual:
        text_ += " == ";
        break;
      case Relation::kUnequal:
        text_ += " != ";
        break;
      case Relation::kIn:
        text_ += " in (";
        break;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k > 0) text_ += ", ";
      const Value& value = names_.value(values[k]);
      mark(variable, values[k], value.is_string ? 1 : 0);
      text_ += value.literal();
    }
    if (static_cast<Relation>(event.form) == Relation::kIn)
      text_ += values.size() == 1 ? ",)" : ")";
  }

  void mark(VariableId variable, ValueId value, std::size_t quote) {
    if (marks_ == nullptr) return;
    marks_->push_back({0, 0, variable, value, text_.size() + quote,
                       static_cast<std::uint32_t>(names_.value(value).text.size())});
  }

  const Program& program_;
  const Names& names_;
  std::uint64_t& environment_;
  std::string& text_;
  std::vector<RevealMark>* marks_;
};

}  // namespace

bool shows_value(const Program& program, const RevealMark& mark) {
  const Event& event = program.events()[mark.event];
  return event.kind == EventKind::kPrint ||
         event.form == static_cast<std::uint8_t>(Relation::kEqual);
}

void render_event(const Program& program, const Event& event, std::uint64_t& environment,
                  std::string& text, std::vector<RevealMark>* marks) {
  EventWriter(program, environment, text, marks).write(event);
}

void marks_in_units(std::vector<RevealMark>& marks, const std::vector<std::uint32_t>& offsets) {
  std::size_t unit = 0;
  for (RevealMark& mark : marks) {
    const std::uint64_t end = mark.offset + mark.length;
    // From the unit that reaches into the value's first byte to the last that begins before its
    // end.
    while (unit + 1 < offsets.size() && offsets[unit + 1] <= mark.offset) ++unit;
    std::size_t last = unit;
    while (last + 1 < offsets.size() && offsets[last + 1] < end) ++last;
    mark.offset = unit;
    mark.length = static_cast<std::uint32_t>(last - unit + 1);
  }
}

LineCache<char> text_cache(std::shared_ptr<const Names> names,
                           std::shared_ptr<const CommandTable> table) {
  return {std::move(names), std::move(table),
          [](std::string_view text, std::vector<char>& units, std::vector<std::uint32_t>* offsets) {
            units.insert(units.end(), text.begin(), text.end());
            for (std::uint32_t i = 0; offsets != nullptr && i < text.size(); ++i)
              offsets->push_back(i);
          }};
}

std::string render(const Program& program, std::vector<RevealMark>* marks) {
  std::string text;
  std::uint64_t environment = program.environment_before();
  std::uint64_t commands = 0;
  for (std::size_t i = 0; i < program.events().size(); ++i) {
    const Event& event = program.events()[i];
    const std::size_t before = marks != nullptr ? marks->size() : 0;
    render_event(program, event, environment, text, marks);
    if (is_command(event.kind)) ++commands;
    if (marks == nullptr) continue;
    for (std::size_t m = before; m < marks->size(); ++m) {
      (*marks)[m].command = commands;
      (*marks)[m].event = static_cast<std::uint32_t>(i);
    }
  }
  return text;
}

}  // namespace shellgame
