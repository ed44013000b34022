#include "shellgame/probe/probe_traces.h"

#include <algorithm>
#include <numeric>

#include "shellgame/evaluate/sequence_rows.h"
#include "shellgame/probe/command_beliefs.h"
#include "shellgame/sequences/numbered_group.h"
#include "shellgame/system/error.h"
#include "shellgame/system/memory.h"
#include "shellgame/system/saturating.h"
#include "shellgame/system/threads.h"

namespace shellgame {
namespace {

// What a certain command does to all variables.
std::vector<std::uint16_t> sources_of(const Permute& permute, std::size_t variables) {
  std::vector<std::uint16_t> sources(variables);
  std::iota(sources.begin(), sources.end(), std::uint16_t{0});
  for (std::size_t k = 0; k < permute.targets.size(); ++k) {
    sources[permute.targets[k]] = permute.sources[k];
  }
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

ProbeTrace made(const Trace& trace, const Tokenizer& tokenizer, const RowMaker& rows,
                bool certain) {
  const Program& program = trace.program;
  const std::size_t n = program.names().size();
  const Lines lines = lines_of(program);
  std::vector<std::uint32_t> ids, offsets;
  tokenizer.encode_with_offsets(lines.text, ids, offsets);
  ProbeTrace result;
  result.ids.assign(ids.begin(), ids.end());
  result.kinds = token_kinds(lines.text, offsets);
  // The tokens that begin before the end of the prompt at this byte.
  const auto after_prompt = [&](std::size_t byte) {
    const auto end = static_cast<std::uint32_t>(byte + kPrompt.size());
    return static_cast<std::size_t>(std::ranges::lower_bound(offsets, end) - offsets.begin());
  };
  std::vector<std::vector<double>> beliefs;
  if (!certain && rows.has_beliefs()) beliefs = beliefs_after(program);
  std::size_t c = 0;
  for (const Event& event : program.events()) {
    if (!is_command(event.kind)) continue;
    ProbeCommand command{.from = after_prompt(lines.commands[c].first),
                         .to = after_prompt(lines.commands[c].second)};
    if (event.kind == EventKind::kPermute) {
      command.sources = sources_of(program.table().permutes[event.at], n);
    }
    const auto state = trace.states.begin() + static_cast<std::ptrdiff_t>(c * n);
    command.state.assign(state, state + static_cast<std::ptrdiff_t>(n));
    if (certain) {
      command.belief = one_hot(command.state);
    } else if (!beliefs.empty()) {
      command.belief = beliefs[c];
    }
    result.commands.push_back(std::move(command));
    ++c;
  }
  return result;
}

// `count` traces, if there is memory for them. They are kept whole: sources, state and belief of
// every command, and the tokens.
std::size_t room_for(std::uint64_t count, std::uint64_t commands, std::uint64_t variables,
                     std::uint64_t tokens) {
  const std::uint64_t command = sizeof(ProbeCommand) + 4 * variables +
                                sizeof(double) * variables * variables,
                      one = saturating_add(saturating_multiply(commands, command),
                                           saturating_multiply<std::uint64_t>(tokens, 9));
  require_memory(saturating_multiply(count, one),
                 fmt::format("{} traces of {} commands", count, commands));
  return count;
}

}  // namespace

ProbeTraces::ProbeTraces(const Task& task, const Tokenizer& tokenizer, std::uint64_t seed,
                         std::uint64_t count, bool beliefs)
    : rows_(std::make_unique<TraceRows>(task, tokenizer, seed, beliefs)),
      certain_(!task.uncertain()) {
  Task own = task;
  own.stages.clear();
  const Sampler sampler(own);
  const TraceMaker maker(sampler);
  variables_ = sampler.names()->size();
  traces_.resize(room_for(count, task.commands, variables_, rows_->tokens()));
  parallel_for(count, [&](std::size_t i) {
    Trace trace;
    maker.make(seed, i, trace, /*complete=*/true);
    traces_[i] = made(trace, tokenizer, *rows_, certain_);
    const auto row = rows_->row(i);
    RowPiece piece;
    std::size_t before = 0;
    while (row->next(piece)) {
      for (AskedReveal& reveal : piece.reveals) {
        reveal.after += before;
        traces_[i].reveals.push_back(std::move(reveal));
      }
      before += piece.ids.size();
    }
    if (before != traces_[i].ids.size()) {
      fail("trace {} must have {} tokens in either form, not {}", i, before, traces_[i].ids.size());
    }
  });
}

ProbeTraces::ProbeTraces(const SequenceSpec& words, std::uint64_t seed, std::uint64_t count)
    : rows_(std::make_unique<SequenceRows>(words, seed)) {
  if (words.kind != "word-problem") {
    wrong_use("probes read traces and word problems, not {}", words.kind);
  }
  const NumberedGroup group = NumberedGroup::parse(words.group);
  variables_ = static_cast<std::size_t>(group.group().degree());
  // product(state, x) sends v to state(x(v)), or by left multiplication x(state(v)): then the
  // inverses do the first.
  const auto images = [&](std::uint32_t element) {
    Permutation p = group.element(element);
    if (words.product == Multiplication::kLeft) p = p.inverse();
    std::vector<std::uint16_t> all(variables_);
    for (std::size_t v = 0; v < variables_; ++v) {
      all[v] = static_cast<std::uint16_t>(p(static_cast<int>(v)));
    }
    return all;
  };
  traces_.resize(room_for(count, words.max, variables_, rows_->tokens()));
  parallel_for(count, [&](std::size_t i) {
    ProbeTrace& trace = traces_[i];
    RowPiece piece;
    rows_->row(i)->next(piece);
    trace.ids.assign(piece.ids.begin(), piece.ids.end());
    trace.kinds.assign(piece.ids.size(), TokenKind::kElement);
    for (std::size_t t = 0; t < piece.ids.size(); ++t) {
      trace.commands.push_back({.from = t,
                                .to = t + 1,
                                .sources = images(piece.ids[t]),
                                .state = images(piece.reveals[t].value)});
      trace.commands.back().belief = one_hot(trace.commands.back().state);
    }
    trace.reveals = std::move(piece.reveals);
  });
}

}  // namespace shellgame
