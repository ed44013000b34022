// A program is a list of typed events: the one truth from which text, tokens, automaton symbols and
// beliefs are made. Commands (Permute, Choose, Call) live in a table, which all samples of a task
// may share; events are small. Reveals and asserts carry the values that were seen: they are
// evidence, not only questions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shellgame/programs/names.h"

namespace shellgame {

// Where a hidden condition comes from: random(), a hidden environment variable, an external call.
enum class Condition : std::uint8_t { kRandom, kEnvironment, kService };

// `targets = sources`: new[targets[k]] = old[sources[k]]. The sources are the targets in some
// order. A swap has two targets, a full permutation has all variables, the identity of an uncertain
// command has none (`pass`).
struct Permute {
  std::vector<VariableId> targets, sources;
  bool is_pass() const { return targets.empty(); }
  friend bool operator==(const Permute&, const Permute&) = default;
};

// An uncertain command: outcome k happens when the hidden number lies below thresholds[k] but not
// below the one before; the last outcome when it lies below none. outcomes.size() =
// thresholds.size() + 1.
struct Mixture {
  Condition source = Condition::kRandom;
  std::vector<double> thresholds;
  std::vector<Permute> outcomes;
  double probability(std::size_t k) const;
  // Which outcome a hidden number in [0, 1) selects.
  std::size_t select(double hidden) const;
  friend bool operator==(const Mixture&, const Mixture&) = default;
};

// A function whose work is skipped: `def work1(x1, x2): return (x2, x1) if random() < 0.5 else (x1,
// x2)`. Its mixture is over the parameters 0..arity-1, each outcome with all of them as targets.
struct Definition {
  std::uint16_t arity = 0;
  Mixture mixture;
  friend bool operator==(const Definition&, const Definition&) = default;
};

enum class EventKind : std::uint8_t {
  kImport,   // form: an Import
  kDefine,   // at: definition (its number in the text is at + 1)
  kAssign,   // operands: variable, value
  kStart,    // an unknown start; form: a Condition; operands: variables, then values in the order
             // that is shuffled
  kPermute,  // at: permute
  kChoose,   // at: mixture
  kCall,     // operands: definition, then variables
  kPrint,    // form: 1 if labelled; operands: variables, then the values seen
  kAssert,   // form: a Relation; operands: variable, then values
};

enum class Import : std::uint8_t { kRandom, kSample, kEnviron, kFetch, kStart };
enum class Relation : std::uint8_t { kEqual, kUnequal, kIn };

// Any kind of command that changes the state.
constexpr bool is_command(EventKind kind) {
  return kind == EventKind::kPermute || kind == EventKind::kChoose || kind == EventKind::kCall;
}

struct Event {
  EventKind kind;
  std::uint8_t form = 0;
  std::uint16_t count = 0;  // of variables (Start, Call, Print) or of values (Assert)
  std::uint32_t at = 0;     // index into a table, or of the first operand
};

// How many operands an event has.
constexpr std::size_t operand_count(const Event& event) {
  switch (event.kind) {
    case EventKind::kAssign:
      return 2;
    case EventKind::kStart:
    case EventKind::kPrint:
      return 2u * event.count;
    case EventKind::kCall:
    case EventKind::kAssert:
      return 1u + event.count;
    default:
      return 0;
  }
}

struct CommandTable {
  std::vector<Permute> permutes;
  std::vector<Mixture> mixtures;
  std::vector<Definition> definitions;
};

class Program {
 public:
  Program() = default;
  Program(std::shared_ptr<const Names> names, std::shared_ptr<const CommandTable> table)
      : names_(std::move(names)), table_(std::move(table)) {}

  const Names& names() const { return *names_; }
  const CommandTable& table() const { return *table_; }
  const std::shared_ptr<const Names>& shared_names() const { return names_; }
  const std::shared_ptr<const CommandTable>& shared_table() const { return table_; }
  const std::vector<Event>& events() const { return events_; }
  std::size_t commands() const;

  // The operands of an event, by kind.
  std::span<const std::uint16_t> operands(const Event& event) const {
    return {operands_.data() + event.at, operand_count(event)};
  }
  std::span<const VariableId> variables(
      const Event& event) const;                              // Assign, Start, Call, Print, Assert
  std::span<const ValueId> values(const Event& event) const;  // Assign, Start, Print, Assert
  const Definition& definition(const Event& call) const {
    return table_->definitions[operands(call)[0]];
  }

  // Environment conditions that came in earlier pieces of the same stream.
  std::uint64_t environment_before() const { return environment_before_; }
  void set_environment_before(std::uint64_t count) { environment_before_ = count; }

  void clear_events();
  void set_table(std::shared_ptr<const CommandTable> table) { table_ = std::move(table); }
  void add_import(Import import);
  void add_define(std::uint32_t definition);
  void add_assign(VariableId variable, ValueId value);
  void add_start(Condition source, std::span<const VariableId> variables,
                 std::span<const ValueId> values);
  void add_permute(std::uint32_t permute) {
    events_.push_back({EventKind::kPermute, 0, 0, permute});
  }
  // `count` permutes at once, whose `at` the caller sets.
  std::span<Event> add_permutes(std::size_t count) {
    events_.resize(events_.size() + count, {EventKind::kPermute, 0, 0, 0});
    return std::span(events_).last(count);
  }
  void add_choose(std::uint32_t mixture) { events_.push_back({EventKind::kChoose, 0, 0, mixture}); }
  void add_call(std::uint16_t definition, std::span<const VariableId> variables);
  void add_print(bool labelled, std::span<const VariableId> variables,
                 std::span<const ValueId> values);
  void add_assert(Relation relation, VariableId variable, std::span<const ValueId> values);
  // All events of the stream's next piece. Pieces may have tables of their own; the definitions of
  // a later piece begin with those of the earlier ones.
  void append(const Program& next);

  // Equal names and equal events, whatever the tables' order.
  friend bool operator==(const Program& a, const Program& b);

 private:
  std::uint32_t push(std::span<const std::uint16_t> operands);

  std::shared_ptr<const Names> names_;
  std::shared_ptr<const CommandTable> table_;
  std::vector<Event> events_;
  std::vector<std::uint16_t> operands_;
  std::uint64_t environment_before_ = 0;
};

}  // namespace shellgame
