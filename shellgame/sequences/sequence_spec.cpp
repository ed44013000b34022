#include "shellgame/sequences/sequence_spec.h"

#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"
#include "shellgame/text/error.h"

namespace shellgame {

std::unique_ptr<SequenceTask> make_sequence_task(const SequenceSpec& spec) {
  if (spec.kind == "word-problem") {
    return std::make_unique<WordProblem>(NumberedGroup::parse(spec.group), spec.max, spec.product);
  }
  if (spec.kind != "parity" && spec.kind != "modular-arithmetic") {
    wrong_use("a sequence task must be parity, modular-arithmetic or word-problem, not '{}'",
              spec.kind);
  }
  return std::make_unique<FormalLanguage>(
      spec.kind == "parity" ? Language::kParity : Language::kModularArithmetic,
      LengthRange{spec.min, spec.max});
}

}  // namespace shellgame
