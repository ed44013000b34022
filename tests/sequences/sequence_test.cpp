#include "shellgame/sequences/sequence.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "shellgame/sequences/formal_language.h"
#include "shellgame/sequences/word_problem.h"

namespace shellgame {
namespace {

TEST(Sequence, WritesRowsAndLines) {
  const Sequence sequence{{3, 0, 11}, {7}};
  EXPECT_EQ(csv_row(42, sequence), "42,3 0 11,7\n");
  EXPECT_EQ(json_line(5, sequence),
            "{\"index\":5,\"input\":[3,0,11],\"target\":[7],\"generator\":1}\n");
}

TEST(Sequence, EveryTaskHasOneInterface) {
  std::vector<std::unique_ptr<SequenceTask>> tasks;
  tasks.push_back(std::make_unique<WordProblem>(NumberedGroup::parse("Z60"), 12));
  tasks.push_back(std::make_unique<FormalLanguage>(Language::kParity));
  tasks.push_back(std::make_unique<FormalLanguage>(Language::kModularArithmetic));
  for (const auto& task : tasks) {
    SCOPED_TRACE(task->name());
    for (std::uint64_t index = 0; index < 20; ++index) {
      const Sequence s = task->sample(1, index);
      EXPECT_FALSE(s.input.empty());
      EXPECT_TRUE(s.target.size() == s.input.size() || s.target.size() == 1);
      for (const auto& ids : {s.input, s.target})
        for (const std::uint32_t id : ids) {
          ASSERT_LT(id, task->vocabulary_size());
          EXPECT_FALSE(task->token(id).empty());
        }
      const nlohmann::json line = nlohmann::json::parse(json_line(index, s));
      EXPECT_EQ(line["input"].get<std::vector<std::uint32_t>>(), s.input);
      EXPECT_EQ(line["target"].get<std::vector<std::uint32_t>>(), s.target);
      EXPECT_EQ(line["index"], index);
      EXPECT_EQ(line["generator"], kSequenceGenerator);
    }
  }
}

}  // namespace
}  // namespace shellgame
