#include "fuzz/readers.h"

#include <cstdlib>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/sequences/word_problem_csv.h"
#include "shellgame/system/error.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tasks/trace.h"
#include "shellgame/tokens/bpe_tokenizer.h"
#include "shellgame/tokens/shard.h"

namespace shellgame {
namespace {

// A broken promise of a reader: a crash that the fuzzer sees.
void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

void read_trace(std::string_view bytes) {
  const Program program = parse(bytes, "fuzz");
  const std::string text = render(program);
  must(parse(text, "again") == program);
  must(render(parse(text, "again")) == text);
  execute(program, 1);
}

void read_task(std::string_view bytes) {
  const Task task = parse_task(bytes, "fuzz");
  must(parse_task(write_task(task), "again") == task);
  if (stage_of(task, 0).commands > 1000 || group_degree(task.group) > 100) return;
  const Sampler sampler(task);
  const Program program = sampler.sample(1, 0);
  must(parse(render(program)) == program);
}

void read_automaton(std::string_view bytes) {
  const AutomatonFile file = parse_automaton(bytes, "fuzz");
  const std::string text = write_automaton(file.automaton, file.word);
  const AutomatonFile again = parse_automaton(text, "again");
  must(write_automaton(again.automaton, again.word) == text);
  const StateSpace& space = file.automaton.space();
  if ((space.is_orders() && space.degree() > 5) || file.word.size() > 100) return;
  const auto filter = make_filter(file.automaton);
  for (SymbolId symbol : file.word) filter->step(symbol);
}

void read_csv(std::string_view bytes) {
  const auto rows = read_word_problem_csv(bytes, "fuzz", 120);
  must(read_word_problem_csv(write_word_problem_csv(rows), "again", 120) == rows);
  check_running_products(rows, NumberedGroup::parse("S5"), Multiplication::kRight, "fuzz");
}

void read_tokenizer(std::string_view bytes) {
  const BpeTokenizer tokenizer(bytes, "fuzz");
  for (const std::string_view text :
       {std::string_view(">>> a, b = b, a\nprint 12 \xc3\xa9\xcc\x81  x"), bytes.substr(0, 200)}) {
    std::vector<std::uint32_t> ids, same, offsets;
    try {
      tokenizer.encode(text, ids);
    } catch (const Error&) {
      continue;  // not UTF-8, or a piece that the vocabulary lacks
    }
    tokenizer.encode_with_offsets(text, same, offsets);
    must(ids == same && offsets.size() == ids.size());
    tokenizer.decode(ids.data(), ids.size());
  }
}

void read_shard(std::string_view bytes) {
  try {
    const ShardIndex index = parse_shard_index(bytes, "fuzz", 8);
    must(write_shard_index(parse_shard_index(write_shard_index(index), "again", 8)) ==
         write_shard_index(index));
  } catch (const Error&) {
  }
  read_traces(bytes, "fuzz");
}

}  // namespace shellgame
