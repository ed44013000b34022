// The cycle in the tokens of traces.
#include <ATen/Functions.h>

#include <algorithm>

#include "shellgame/probe/cycle.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::size_t kLongestPeriod = 4096;

// Tokens [from, from + length) repeat with the period; the whole stretch is length + period.
struct Repeats {
  std::size_t period = 0, from = 0, length = 0;
  std::size_t cycles() const { return period == 0 ? 0 : (length + period) / period; }
};

Repeats longest_repeat(const std::vector<std::int64_t>& ids, std::size_t end, std::size_t period) {
  Repeats best{.period = period}, now{.period = period};
  for (std::size_t t = 0; t + period < end; ++t) {
    if (ids[t] != ids[t + period]) {
      now.length = 0;
      continue;
    }
    if (now.length++ == 0) now.from = t;
    if (now.length > best.length) best = now;
  }
  return best;
}

Repeats find_cycle(const std::vector<std::int64_t>& ids, std::size_t end) {
  Repeats best;
  for (std::size_t period = 2; period <= std::min(kLongestPeriod, end / 2); ++period) {
    const Repeats one = longest_repeat(ids, end, period);
    // Twice the period repeats as long: only what is longer by a period is better.
    if (one.cycles() >= 3 && one.length + one.period > best.length + best.period + best.period)
      best = one;
  }
  return best;
}

at::Tensor cut(const std::vector<WholeEpisode>& traces, std::size_t from, std::size_t to) {
  at::Tensor ids = at::empty(
      {static_cast<std::int64_t>(traces.size()), static_cast<std::int64_t>(to - from)}, at::kLong);
  std::int64_t* next = ids.data_ptr<std::int64_t>();
  for (const WholeEpisode& trace : traces)
    next = std::copy_n(trace.ids.data() + from, to - from, next);
  return ids;
}

std::size_t differences(const WholeEpisode& a, const WholeEpisode& b, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < end; ++t) count += a.ids[t] != b.ids[t] ? 1 : 0;
  return count;
}

}  // namespace

CycleTraces cycle_of(const std::vector<WholeEpisode>& traces) {
  if (traces.empty() || traces.front().questions.empty())
    wrong_use("a probe of cycles needs traces with a question at their end");
  const std::size_t end = traces.front().questions.back().after + 1;
  const Repeats found = find_cycle(traces.front().ids, end);
  if (found.cycles() < 3)
    wrong_use(
        "a probe of cycles needs traces that repeat the same tokens at least three times before "
        "their last question: --schedule FILE --set N=8, say");
  // Names make rows repeat a token more or less at the ends: what all of them repeat counts.
  std::size_t from = 0, to = end;
  for (const WholeEpisode& trace : traces) {
    if (trace.questions.empty() || trace.questions.back().after + 1 != end)
      wrong_use("a probe of cycles needs traces whose last question stands at the same token");
    if (trace.questions.back().length != 1)
      wrong_use("a probe of cycles needs values of one token, not of {}",
                trace.questions.back().length);
    const Repeats own = longest_repeat(trace.ids, end, found.period);
    from = std::max(from, own.from);
    to = std::min(to, own.from + own.length + found.period);
  }
  const std::size_t cycles = to > from ? (to - from) / found.period : 0;
  if (cycles < 3)
    wrong_use("a probe of cycles needs traces that repeat themselves at the same tokens");
  CycleTraces cycle;
  const std::size_t last = from + cycles * found.period;
  cycle.prefix = cut(traces, 0, from);
  cycle.cycle = cut(traces, from, from + found.period);
  cycle.ending = cut(traces, last, end);
  for (const WholeEpisode& trace : traces) {
    const Question& question = trace.questions.back();
    std::vector<std::int64_t> tokens;
    for (std::uint32_t v = 0; v < question.values->values(); ++v)
      tokens.push_back(question.values->tokens(v).front());
    cycle.values.push_back(tokens);
    cycle.truths.push_back(question.value);
  }
  for (std::size_t a = 0; a < traces.size(); ++a) {
    for (std::size_t b = a + 1; b < traces.size(); ++b) {
      if (differences(traces[a], traces[b], end) == 1) cycle.twins.emplace_back(a, b);
    }
  }
  return cycle;
}

}  // namespace shellgame
