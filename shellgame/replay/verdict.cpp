#include "shellgame/replay/verdict.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace shellgame {
namespace {

constexpr std::size_t kShownCharacters = 2000;

// Without its last newline, and not endless.
std::string shown(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xc0) != 0x80 && ++characters > kShownCharacters) {
      return std::string(text.substr(0, i)) + " [...]";
    }
  }
  return std::string(text);
}

// Whether an example did what the trace says; `output` is null if it printed nothing.
bool fits(std::string_view want, const ExampleOutput* output) {
  if (output == nullptr) return want.empty();
  if (output->kind == OutputKind::kRaised) return expects_exception(want, output->text);
  if (output->kind != OutputKind::kPrinted) return false;
  // The last line's newline is not asked for: the shell's next prompt would follow without it.
  const std::string_view got = output->text;
  if (got.ends_with('\n')) return got == want;
  return want.size() == got.size() + 1 && want.starts_with(got);
}

}  // namespace

ReplayReport judge(std::uint64_t trace, const CutText& cut, const SessionOutputs& session,
                   const std::optional<DoctestResult>& doctest, std::size_t keep) {
  ReplayReport report;
  DoctestResult ours;
  report.traces = 1;
  const auto differs = [&](std::size_t line, std::string_view source, std::string_view want,
                           std::string_view got) {
    ++report.mismatches;
    ours.lines.push_back(line);
    if (report.first.size() < keep)
      report.first.push_back({trace, line, shown(source), shown(want), shown(got)});
  };
  if (cut.malformed()) {
    differs(cut.malformed()->line, cut.malformed()->source, "", cut.malformed()->why);
    ours = {.refused = true, .lines = {}};
  }
  const std::vector<ReplayExample>& examples = cut.examples();
  report.examples = examples.size();
  auto next = session.outputs.begin();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const ReplayExample& example = examples[i];
    if (!example.want.empty()) ++report.outputs;
    const ExampleOutput* output = nullptr;
    if (next != session.outputs.end() && next->example == i) output = &*next++;
    if (session.end && i > session.end->example) continue;  // it never ran
    if (session.end && i == session.end->example) {
      differs(example.line, example.source, example.want, session.end->how);
    } else if (!fits(example.want, output)) {
      differs(example.line, example.source, example.want,
              output == nullptr ? std::string_view() : output->text);
    }
  }
  // Beyond the last example: what was left over. doctest does not see it.
  if (next != session.outputs.end() && next->example == examples.size() && !examples.empty()) {
    differs(examples.back().line, examples.back().source, "[all hidden numbers drawn]", next->text);
    ours.lines.pop_back();
  }
  if (doctest) {
    report.doctest_traces = 1;
    report.doctest_failures = doctest->refused ? 1 : doctest->lines.size();
    if (*doctest != ours) {
      report.disagreements = 1;
      report.first_disagreement = trace;
    }
  }
  return report;
}

void append_report(ReplayReport& whole, ReplayReport part, std::size_t keep) {
  whole.traces += part.traces;
  whole.examples += part.examples;
  whole.outputs += part.outputs;
  whole.mismatches += part.mismatches;
  whole.isolated += part.isolated;
  whole.doctest_traces += part.doctest_traces;
  whole.doctest_failures += part.doctest_failures;
  whole.disagreements += part.disagreements;
  if (!whole.first_disagreement) whole.first_disagreement = part.first_disagreement;
  const std::size_t room = keep - std::min(keep, whole.first.size());
  std::move(part.first.begin(),
            part.first.begin() + static_cast<std::ptrdiff_t>(std::min(room, part.first.size())),
            std::back_inserter(whole.first));
}

}  // namespace shellgame
