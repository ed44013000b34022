#include "shellgame/episodes/signature.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/tasks/task_keys.h"
#include "shellgame/tokens/lexeme_tokenizer.h"
#include "shellgame/traces/predictions.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

// FNV-1a: short, published, and the same everywhere.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

// One task for each part of the generator, as "key value" pairs.
const std::vector<std::vector<std::pair<const char*, const char*>>> kTasks = {
    {},
    {{"group", "S3"}, {"moves", "swaps"}, {"spacing", "1"}, {"initial-reveal", "one"}},
    {{"group", "S9"}, {"reveals", "round-robin"}, {"reveal-count", "2"}},
    {{"group", "S30"}, {"moves", "swaps"}, {"full-reveal-period", "10"}},
    {{"group", "A4xZ5"}, {"moves", "generators"}, {"reveals", "fixed"}, {"reveal-variable", "c"}},
    {{"reveal-forms", "print,equal,unequal,member"}, {"spacing", "2"}},
    {{"uncertainty", "branching"}, {"moves", "swaps"}, {"probability", "0.3"}},
    {{"uncertainty", "branching"},
     {"condition", "environment"},
     {"otherwise", "move"},
     {"uncertain-share", "0.5"}},
    {{"uncertainty", "skipped"}, {"condition", "external"}},
    {{"uncertainty", "branching,unknown-start"},
     {"group", "S3"},
     {"mixtures", "0.5 (1 2), 0.5 (1 3)"}},
    {{"uncertainty", "unknown-start"}, {"values", "red,green,blue,grey,pink"}},
    {{"stages", "8:1:2,16:2:2,32:4"}},
};

}  // namespace

std::uint64_t signature() {
  Hash hash;
  const LexemeTokenizer tokenizer;
  for (const auto& keys : kTasks) {
    Task task;
    for (const auto& [name, value] : keys) find_task_key(name)->set(task, value);
    const Sampler sampler(task);
    const TraceMaker maker(sampler);
    Trace trace;
    std::string line;
    for (std::uint64_t index = 0; index < 6; ++index) {
      maker.make(7, index, trace, true);
      line.clear();
      maker.append_json(trace, line);
      hash.add(line);
      // Nine digits: what rounding may change differs between machines.
      for (const auto& belief : predictions(trace.program, trace.reveals)) {
        for (double p : belief) hash.add(fmt::format("{:.9g} ", p));
      }
      for (std::uint32_t id : tokenizer.encode(trace.text.view())) hash.add(fmt::format("{} ", id));
    }
  }
  std::vector<std::unique_ptr<SequenceTask>> sequences;
  sequences.push_back(std::make_unique<WordProblem>(NumberedGroup::parse("A5"), 20));
  sequences.push_back(std::make_unique<FormalLanguage>(Language::kParity));
  sequences.push_back(std::make_unique<FormalLanguage>(Language::kModularArithmetic));
  for (const auto& task : sequences) {
    for (std::uint64_t index = 0; index < 6; ++index)
      hash.add(json_line(index, task->sample(7, index)));
  }
  return hash.value();
}

}  // namespace shellgame
