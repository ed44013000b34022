#include "shellgame/replay/interpreter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shellgame/replay/replay_script.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// How long an interpreter may work on a batch of traces (about 128 KiB of text, or one longer
// trace); every megabyte adds as much again. Plain traces never come near it.
constexpr double kSecondsPerBatch = 60;
constexpr std::uint32_t kNoLines = std::numeric_limits<std::uint32_t>::max();
// A plain example prints its variables' values, or one line of an exception.
constexpr std::uint64_t kMostAnswer = std::uint64_t{4} << 30;

DoctestResult doctest_result(FrameFields& lines) {
  const auto count = lines.number<std::uint32_t>();
  DoctestResult result{.refused = count == kNoLines, .lines = {}};
  for (std::uint32_t i = 0; !result.refused && i < count && lines.complete(); ++i) {
    result.lines.push_back(lines.number<std::uint32_t>());
  }
  return result;
}

}  // namespace

std::uint32_t hidden_count(const ReplayTrace& trace) {
  return trace.hidden_numbers ? static_cast<std::uint32_t>(trace.hidden_numbers->size()) : kNoLines;
}

std::string_view hidden_bytes(const ReplayTrace& trace) {
  if (!trace.hidden_numbers) return {};
  return {reinterpret_cast<const char*>(trace.hidden_numbers->data()),
          trace.hidden_numbers->size() * sizeof(double)};
}

Interpreter::Interpreter(const std::string& python, const std::atomic<bool>& stop)
    : process_(python, std::string(kSessionScript) + kReplayScript, {}, "shellgame replay ",
               nullptr, stop) {}

std::uint32_t Interpreter::local_number(std::uint32_t source, std::string_view text,
                                        std::string& learned) {
  if (source >= numbers_.size()) numbers_.resize(source + source / 2 + 1);
  if (numbers_[source] == 0) {
    put_number<std::uint32_t>(learned, static_cast<std::uint32_t>(text.size()));
    learned += text;
    numbers_[source] = ++learned_;
  }
  return numbers_[source] - 1;
}

// Forget, count of new sources, count of traces; the sources; a record a trace; for each trace the
// numbers of its sources, its hidden numbers, and its text if doctest needs it.
std::string Interpreter::request(const std::vector<const ReplayTrace*>& traces) {
  const bool forget = traces[0]->known.generation != generation_;
  if (forget) {
    generation_ = traces[0]->known.generation;
    numbers_.clear();
    learned_ = 0;
  }
  const std::uint32_t before = learned_;
  std::string sources, records, bodies, head;
  for (const ReplayTrace* trace : traces) {
    const std::vector<std::uint32_t>& numbers = trace->known.sources;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      put_number(bodies, local_number(numbers[i], trace->cut.examples()[i].source, sources));
    }
    const std::string_view text = trace->doctest ? trace->cut.text() : std::string_view();
    bodies += hidden_bytes(*trace);
    bodies += text;
    for (const std::size_t field :
         {std::size_t{trace->seed}, std::size_t{trace->known.loads}, numbers.size(),
          std::size_t{trace->doctest}, text.size(), std::size_t{hidden_count(*trace)}}) {
      put_number(records, static_cast<std::uint32_t>(field));
    }
  }
  put_number<std::uint32_t>(head, forget ? 1 : 0);
  put_number<std::uint32_t>(head, learned_ - before);
  put_number(head, static_cast<std::uint32_t>(traces.size()));
  return head + sources + records + bodies;
}

std::vector<TraceResult> Interpreter::run(const std::vector<const ReplayTrace*>& traces) {
  const std::string body = request(traces);
  const double seconds =
      kSecondsPerBatch * (1 + std::floor(static_cast<double>(body.size()) / 1e6));
  std::string head;
  put_number<std::uint64_t>(head, body.size());
  // The child's own alarm, should this process be gone by then; a little later than ours.
  put_number(head, static_cast<std::uint32_t>(std::min(seconds + 5, 1e9)));
  const std::optional<std::string> answer = process_.ask({head, body}, seconds, kMostAnswer);
  if (!answer) {
    process_.give_up(traces.size() == 1 ? fmt::format("in trace {}", traces[0]->index)
                                        : fmt::format("in one of the traces {} to {}",
                                                      traces[0]->index, traces.back()->index));
  }

  // Four arrays, as replay.py writes them.
  FrameFields counts(*answer);
  std::vector<std::uint32_t> outputs_of;
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    outputs_of.push_back(counts.number<std::uint32_t>());
    outputs += outputs_of.back();
  }
  constexpr std::size_t kHeadBytes = 3 * sizeof(std::uint32_t);
  FrameFields rest(counts);
  FrameFields heads(rest.bytes(outputs * kHeadBytes));
  std::vector<TraceResult> results(traces.size());
  for (std::size_t i = 0; i < traces.size() && rest.complete(); ++i) {
    for (std::uint32_t left = outputs_of[i]; left > 0 && rest.complete(); --left) {
      ExampleOutput output;
      output.example = heads.number<std::uint32_t>();
      output.kind = static_cast<OutputKind>(heads.number<std::uint32_t>());
      output.text = rest.bytes(heads.number<std::uint32_t>());
      results[i].session.outputs.push_back(std::move(output));
    }
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (traces[i]->doctest) results[i].doctest = doctest_result(rest);
  }
  if (!rest.complete() || !rest.at_end()) {
    fail("a replay of {} traces answered with {} bytes that are no answer to it", traces.size(),
         answer->size());
  }
  return results;
}

}  // namespace shellgame
