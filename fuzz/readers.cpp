#include "fuzz/readers.h"

#include <algorithm>
#include <cstdlib>

#include "shellgame/automata/automaton_file.h"
#include "shellgame/beliefs/filter.h"
#include "shellgame/episodes/file_source.h"
#include "shellgame/episodes/question_rows.h"
#include "shellgame/episodes/schedule_source.h"
#include "shellgame/programs/execute.h"
#include "shellgame/programs/parse.h"
#include "shellgame/programs/render.h"
#include "shellgame/sequences/word_problem_csv.h"
#include "shellgame/tasks/sampler.h"
#include "shellgame/tasks/task_file.h"
#include "shellgame/tensors/npy.h"
#include "shellgame/tensors/safetensors.h"
#include "shellgame/tensors/tensor_index.h"
#include "shellgame/text/error.h"
#include "shellgame/tokens/bpe_tokenizer.h"
#include "shellgame/tokens/byte_tokenizer.h"
#include "shellgame/tokens/shard.h"
#include "shellgame/traces/trace.h"

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

void read_questions(std::string_view bytes) {
  const ByteTokenizer tokenizer;
  const auto text_of = [](const FileSource& source) {
    std::string text;
    for (std::uint64_t i = 0; i < source.episodes(); ++i) {
      Piece piece;
      source.whole(i, piece);
      text += question_line(piece, source.has_beliefs());
    }
    return text;
  };
  const std::string once = text_of(FileSource(bytes, "fuzz", &tokenizer));
  must(text_of(FileSource(once, "again", &tokenizer)) == once);
}

void read_schedule_file(std::string_view bytes) {
  const Schedule schedule = parse_any_schedule(bytes, "fuzz");
  const ScheduleCell cell = cells_of(schedule).at(0);
  for (const double number : cell.parameters) {
    if (number > 1000) return;
  }
  const SchedulePlan plan(schedule, cell);
  if (plan.commands() > 1000 || schedule.variables > 5) return;
  Program program;
  ScheduleStream(plan, 1, 0).next(program, 1000);
  must(parse(render(program)) == program);
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

namespace {

SafetensorsHeader safetensors_header(std::string_view bytes, const std::string& file) {
  const std::uint64_t length = safetensors_header_length(bytes.substr(0, 8), bytes.size(), file);
  return parse_safetensors_header(bytes.substr(8, length), bytes.size() - 8 - length, file);
}

}  // namespace

void read_safetensors(std::string_view bytes) {
  SafetensorsHeader header = safetensors_header(bytes, "fuzz");
  std::vector<TensorSource> sources;
  for (const StoredTensor& tensor : header.tensors) {
    const char* numbers = bytes.data() + header.data_begin + tensor.begin;
    must(header.data_begin + tensor.end <= bytes.size());
    must(element_count(tensor.shape) == tensor.elements());
    sources.push_back({tensor.name, tensor.dtype, tensor.shape, numbers, {}});
    if (!is_convertible(tensor.dtype)) continue;
    std::vector<double> wide(tensor.elements());
    convert(tensor.dtype, numbers, Dtype::kF64, wide.data(), wide.size());
    std::string back(tensor.bytes(), '\0');
    convert(Dtype::kF64, wide.data(), tensor.dtype, back.data(), wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const std::size_t width = dtype_size(tensor.dtype);
      must(wide[i] != wide[i] ||
           std::equal(back.data() + i * width, back.data() + (i + 1) * width, numbers + i * width));
    }
  }
  const auto written = [&] {
    std::string text;
    write_safetensors([&](std::string_view piece) { text += piece; }, sources, header.metadata);
    return text;
  };
  const std::string text = written();
  const SafetensorsHeader again = safetensors_header(text, "again");
  must(again.metadata == header.metadata && again.tensors.size() == header.tensors.size());
  must(again.data_begin % 8 == 0);
  std::ranges::reverse(sources);
  must(written() == text);
}

void read_npy(std::string_view bytes) {
  const NpyHeader header = parse_npy_header(bytes.substr(0, kMaxNpyHeader), bytes.size(), "fuzz");
  const std::string text = npy_header(header.dtype, header.shape);
  const NpyHeader again =
      parse_npy_header(text, text.size() + header.elements() * dtype_size(header.dtype), "again");
  must(again.dtype == header.dtype && again.shape == header.shape);
  must(again.data_begin == text.size() && text.size() % 64 == 0);
}

void read_tensor_index(std::string_view bytes) {
  const TensorIndex index = parse_tensor_index(bytes, "fuzz");
  must(parse_tensor_index(write_tensor_index(index), "again") == index);
}

}  // namespace shellgame
