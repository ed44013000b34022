// Programs in any unit that is made of whole lines: bytes of text, or tokens of a tokenizer for
// which lines are independent. The lines of shared commands, of initial values and of one-variable
// reveals are made once; a program is then a row of copies. What is copied was made by
// render_event(), so that no second meaning of an event exists.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shellgame/programs/render.h"
#include "shellgame/system/buffer.h"

namespace shellgame {

// Unit is char for text, std::uint32_t for tokens.
template <class Unit>
class LineCache {
 public:
  // Appends the units of `text`; if `offsets` is not null, also the byte at which each unit begins.
  using Encode = std::function<void(std::string_view text, std::vector<Unit>& units,
                                    std::vector<std::uint32_t>* offsets)>;

  // `table` is shared by the programs to come. Programs with another table are written without its
  // cache.
  LineCache(std::shared_ptr<const Names> names, std::shared_ptr<const CommandTable> table,
            Encode encode)
      : names_(std::move(names)), table_(std::move(table)), encode_(std::move(encode)) {
    Program one(names_, table_);
    const auto remember = [&](std::vector<Line>& lines) {
      lines.push_back(make_line(one));
      one.clear_events();
    };
    for (std::uint32_t i = 0; i < table_->permutes.size(); ++i) {
      one.add_permute(i);
      remember(permutes_);
    }
    for (std::uint32_t i = 0; i < table_->mixtures.size(); ++i) {
      one.add_choose(i);
      remember(mixtures_);
      // An environment variable's number is not known in advance.
      if (table_->mixtures[i].source == Condition::kEnvironment) mixtures_.back() = Line{};
    }
    const std::size_t n = names_->size();
    for (VariableId v = 0; v < n && n <= kMostCachedValues; ++v) {
      for (ValueId value = 0; value < n; ++value) {
        one.add_print(true, {&v, 1}, {&value, 1});
        remember(reveals_);
        one.add_assign(v, value);
        remember(assigns_);
      }
    }
    pool_.resize(pool_.size() + kSlack);  // copy() may read past the last line
  }

  // Appends a program. `commands` and `environment` count what came before in the same stream, and
  // go on. Marks have their places in units of `out`.
  void append(const Program& program, Buffer<Unit>& out, std::uint64_t& commands,
              std::uint64_t& environment, std::vector<RevealMark>* marks) const {
    const auto& events = program.events();
    // `out` is longer than what it holds while the loop runs, so that a cached line is one copy of
    // a fixed length.
    std::size_t size = out.size();
    out.resize(size + events.size() * longest_ + kSlack);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (const Line* line = find(program, events[i])) {
        copy(*line, out.data() + size);
        if (is_command(events[i].kind)) ++commands;
        if (marks != nullptr && line->mark_length > 0) {
          const auto operands = program.operands(events[i]);
          marks->push_back({commands, static_cast<std::uint32_t>(i), operands[0], operands[1],
                            size + line->mark, line->mark_length});
        }
        size += line->size;
        continue;
      }
      out.resize(size);
      write(program, i, out, commands, environment, marks);
      size = out.size();
      out.resize(size + (events.size() - i) * longest_ + kSlack);
    }
    out.resize(size);
  }

 private:
  static constexpr std::size_t kMostCachedValues = 32;
  static constexpr std::size_t kSlack = 64 / sizeof(Unit);

  struct Line {
    std::size_t at = 0, size = 0;             // in pool_
    std::uint32_t mark = 0, mark_length = 0;  // of the revealed value
  };

  const Line* find(const Program& program, const Event& event) const {
    if (event.kind == EventKind::kPermute && program.shared_table() == table_)
      return &permutes_[event.at];
    if (event.kind == EventKind::kPrint && event.count == 1 && event.form != 0 &&
        !reveals_.empty()) {
      const auto operands = program.operands(event);
      return &reveals_[operands[0] * names_->size() + operands[1]];
    }
    if (event.kind == EventKind::kAssign && !assigns_.empty()) {
      const auto operands = program.operands(event);
      return &assigns_[operands[0] * names_->size() + operands[1]];
    }
    if (event.kind == EventKind::kChoose && program.shared_table() == table_ &&
        mixtures_[event.at].size > 0) {
      return &mixtures_[event.at];
    }
    return nullptr;
  }

  Line make_line(const Program& one) {
    Line result{pool_.size(), 0, 0, 0};
    std::vector<RevealMark> marks;
    std::uint64_t commands = 0, environment = 0;
    write(one, 0, pool_, commands, environment, &marks);
    result.size = pool_.size() - result.at;
    longest_ = std::max(longest_, result.size);
    if (!marks.empty()) {
      result.mark = static_cast<std::uint32_t>(marks[0].offset - result.at);
      result.mark_length = marks[0].length;
    }
    return result;
  }

  // The general way: text, then units. Places of values are translated through the units' offsets.
  void write(const Program& program, std::size_t i, Buffer<Unit>& out, std::uint64_t& commands,
             std::uint64_t& environment, std::vector<RevealMark>* marks) const {
    const Event& event = program.events()[i];
    std::string text;
    std::vector<RevealMark> found;
    render_event(program, event, environment, text, marks != nullptr ? &found : nullptr);
    if (is_command(event.kind)) ++commands;
    const std::size_t before = out.size();
    std::vector<Unit> units;
    std::vector<std::uint32_t> offsets;
    encode_(text, units, found.empty() ? nullptr : &offsets);
    out.append(units);
    marks_in_units(found, offsets);
    for (RevealMark mark : found) {
      mark.command = commands;
      mark.event = static_cast<std::uint32_t>(i);
      mark.offset += before;
      marks->push_back(mark);
    }
  }

  // Copies kSlack units whatever the line's length, where it fits: a fixed length needs no loop.
  void copy(const Line& line, Unit* to) const {
    const Unit* from = pool_.data() + line.at;
    if (line.size <= kSlack) {
      std::memcpy(to, from, kSlack * sizeof(Unit));
    } else {
      std::memcpy(to, from, line.size * sizeof(Unit));
    }
  }

  std::shared_ptr<const Names> names_;
  std::shared_ptr<const CommandTable> table_;
  Encode encode_;
  Buffer<Unit> pool_;
  std::size_t longest_ = 0;
  std::vector<Line> permutes_, mixtures_, reveals_, assigns_;
};

// The cache for text itself.
LineCache<char> text_cache(std::shared_ptr<const Names> names,
                           std::shared_ptr<const CommandTable> table);

}  // namespace shellgame
