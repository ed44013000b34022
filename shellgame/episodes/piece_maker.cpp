#include "shellgame/episodes/piece_maker.h"

#include <algorithm>
#include <numeric>

#include "shellgame/automata/from_program.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// What a certain command does to all variables.
std::vector<std::uint16_t> sources_of(const Permute& permute, std::size_t variables) {
  std::vector<std::uint16_t> sources(variables);
  std::iota(sources.begin(), sources.end(), std::uint16_t{0});
  for (std::size_t k = 0; k < permute.targets.size(); ++k)
    sources[permute.targets[k]] = permute.sources[k];
  return sources;
}

std::vector<double> one_hot(const std::vector<std::uint16_t>& state) {
  std::vector<double> belief(state.size() * state.size());
  for (std::size_t v = 0; v < state.size(); ++v) belief[v * state.size() + state[v]] = 1;
  return belief;
}

// Text event by event, with the bytes at which commands begin and end.
struct Lines {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> commands;
};

Lines lines_of(const Program& program) {
  Lines lines;
  std::uint64_t environment = 0;
  for (const Event& event : program.events()) {
    const std::size_t from = lines.text.size();
    render_event(program, event, environment, lines.text);
    if (is_command(event.kind)) lines.commands.emplace_back(from, lines.text.size());
  }
  return lines;
}

// The belief about every variable after each command, as the exact filter has it.
std::vector<std::vector<double>> beliefs_after(const Program& program) {
  const ProgramWord read = word_of(program, Prints::kByVariable);
  const auto filter = make_exact_filter(read.automaton);
  std::vector<std::vector<double>> beliefs;
  for (std::size_t t = 0; t < read.word.size(); ++t) {
    filter->step(read.word[t]);
    if (is_command(program.events()[read.events[t]].kind)) beliefs.push_back(filter->marginals());
  }
  return beliefs;
}

}  // namespace

const ValueTree& PieceMaker::values_at(const Program& program, const RevealMark& mark,
                                       const Context& context) const {
  const Event& event = program.events()[mark.event];
  const std::size_t at = std::get<3>(context);
  const std::lock_guard lock(mutex_);
  const auto found = trees_.find(context);
  if (found != trees_.end()) return found->second;
  // The same line with each value in turn, as the renderer and the tokenizer write it.
  std::vector<std::vector<std::uint32_t>> tokens;
  const auto variables = program.variables(event);
  for (ValueId value = 0; value < program.names().size(); ++value) {
    Program one(program.shared_names(), program.shared_table());
    std::vector<ValueId> values(program.values(event).begin(), program.values(event).end());
    values[at] = value;
    if (event.kind == EventKind::kPrint) {
      one.add_print(event.form != 0, variables, values);
    } else {
      one.add_assert(static_cast<Relation>(event.form), variables[0], values);
    }
    std::string text;
    std::vector<RevealMark> marks;
    std::uint64_t environment = 0;
    render_event(one, one.events()[0], environment, text, &marks);
    std::vector<std::uint32_t> ids, offsets;
    tokenizer_.encode_with_offsets(text, ids, offsets);
    marks_in_units(marks, offsets);
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(marks[at].offset);
    tokens.emplace_back(from, from + marks[at].length);
  }
  return trees_.emplace(context, ValueTree(tokens)).first->second;
}

void PieceMaker::fill(const Program& program, std::span<const RevealMark> marks,
                      std::span<const std::uint32_t> ids,
                      const std::vector<std::vector<double>>* beliefs, Piece& piece,
                      const std::vector<bool>* asked) const {
  piece.ids.assign(ids.begin(), ids.end());
  piece.questions.clear();
  piece.steps.clear();
  piece.kinds.clear();
  std::uint32_t event = UINT32_MAX;
  std::size_t at = 0, shown = 0;
  Context known{};
  const ValueTree* tree = nullptr;
  for (const RevealMark& mark : marks) {
    at = mark.event == event ? at + 1 : 0;
    event = mark.event;
    if (!shows_value(program, mark)) continue;
    const std::size_t number = shown++;
    if (asked != nullptr && !(*asked)[mark.event]) continue;
    // Most marks of a trace are in the context of the one before.
    const Event& shown_by = program.events()[mark.event];
    const Context context{shown_by.kind, shown_by.form, shown_by.count, at};
    if (tree == nullptr || context != known) {
      tree = &values_at(program, mark, context);
      known = context;
    }
    const ValueTree& values = *tree;
    const auto here = ids.subspan(mark.offset, mark.length);
    if (mark.offset == 0 || mark.offset + mark.length >= ids.size() ||
        !std::ranges::equal(here, values.tokens(mark.value))) {
      fail(
          "the tokenizer '{}' must write a value in one way wherever it stands, but writes '{}' in "
          "several",
          tokenizer_.name(), names_->value(mark.value).text);
    }
    piece.questions.push_back({.command = mark.command,
                               .variable = mark.variable,
                               .value = mark.value,
                               .after = mark.offset - 1,
                               .length = mark.length,
                               .end_token = ids[mark.offset + mark.length],
                               .values = &values});
    if (beliefs != nullptr) piece.questions.back().belief = (*beliefs)[number];
  }
}

void PieceMaker::add_steps(const Program& program, std::span<const ValueId> states,
                           std::uint64_t index, bool with_beliefs, Piece& piece) const {
  const std::size_t n = names_->size();
  const bool certain = !is_uncertain(program);
  const Lines lines = lines_of(program);
  std::vector<std::uint32_t> ids, offsets;
  tokenizer_.encode_with_offsets(lines.text, ids, offsets);
  if (ids != piece.ids)
    fail("trace {} must have the same tokens in either form, {} and {}", index, piece.ids.size(),
         ids.size());
  piece.kinds = token_kinds(lines.text, offsets);
  // The tokens that begin before the end of the prompt at this byte.
  const auto after_prompt = [&](std::size_t byte) {
    const auto end = static_cast<std::uint32_t>(byte + kPrompt.size());
    return static_cast<std::size_t>(std::ranges::lower_bound(offsets, end) - offsets.begin());
  };
  std::vector<std::vector<double>> beliefs;
  if (with_beliefs) beliefs = beliefs_after(program);
  std::size_t c = 0;
  for (const Event& event : program.events()) {
    if (!is_command(event.kind)) continue;
    Step step{.from = after_prompt(lines.commands[c].first),
              .to = after_prompt(lines.commands[c].second)};
    if (event.kind == EventKind::kPermute)
      step.sources = sources_of(program.table().permutes[event.at], n);
    const auto state = states.begin() + static_cast<std::ptrdiff_t>(c * n);
    step.state.assign(state, state + static_cast<std::ptrdiff_t>(n));
    if (certain) {
      step.belief = one_hot(step.state);
    } else if (!beliefs.empty()) {
      step.belief = beliefs[c];
    }
    piece.steps.push_back(std::move(step));
    ++c;
  }
}

}  // namespace shellgame
