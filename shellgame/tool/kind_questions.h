// `shellgame trace --kind KIND --format questions`: what any source makes, as a file of questions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shellgame {

struct KindQuestions {
  std::string kind;
  std::vector<std::string> settings;  // KEY=VALUE
  std::uint64_t count = 1, seed = 0, first_index = 0;
  std::string output = "-", tokenizer = "lexeme";
};

void write_kind_questions(const KindQuestions& options);

}  // namespace shellgame
