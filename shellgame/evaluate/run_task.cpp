#include "shellgame/evaluate/run_task.h"

#include <toml++/toml.h>

#include <sstream>

#include "shellgame/system/error.h"
#include "shellgame/system/files.h"
#include "shellgame/tasks/task_file.h"

namespace shellgame {
namespace {

SequenceSpec read_sequence(const toml::table& table, const std::string& file) {
  SequenceSpec spec;
  const auto where = [&](const toml::source_region& source) {
    return fmt::format("{}:{}:{}", file, source.begin.line, source.begin.column);
  };
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto text = node.value<std::string>();
    const auto number = node.value<std::int64_t>();
    const bool length = name == "length" || name == "min" || name == "max";
    if (length && number && *number >= 1 && *number <= std::int64_t{kMaxSequenceLength}) {
      if (name != "max") spec.min = static_cast<std::uint32_t>(*number);
      if (name != "min") spec.max = static_cast<std::uint32_t>(*number);
    } else if (name == "kind" && text) {
      spec.kind = *text;
    } else if (name == "group" && text) {
      spec.group = *text;
    } else if (name == "product" && text && (*text == "right" || *text == "left")) {
      spec.product = *text == "right" ? Multiplication::kRight : Multiplication::kLeft;
    } else {
      throw InputError(where(key.source()),
                       fmt::format("key '{}': a sequence has a kind (parity, modular-arithmetic, "
                                   "word-problem), a group, a product (right, left) and lengths: "
                                   "length, or min and max",
                                   name));
    }
  }
  try {
    make_sequence_task(spec);
  } catch (const UsageError& error) {
    throw InputError(where(table.source()), fmt::format("[sequence]: {}", error.what()));
  }
  return spec;
}

}  // namespace

RunTask parse_run_task(const std::string& text, const std::string& file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("{}:{}:{}", file, error.source().begin.line, error.source().begin.column),
        std::string(error.description()));
  }
  RunTask run;
  if (const toml::table* table = root["task"].as_table()) {
    std::ostringstream own;
    own << *table;
    run.task = parse_unchecked_task(own.str(), file + " [task]");
  }
  if (const toml::table* table = root["sequence"].as_table()) {
    run.sequence = read_sequence(*table, file);
  }
  if (run.task.has_value() == run.sequence.has_value()) {
    throw InputError(file, "an experiment must have one of the tables [task] and [sequence]");
  }
  return run;
}

RunTask read_run_task(const std::string& directory) {
  const std::string file = directory + "/experiment.toml";
  return parse_run_task(read_file(file), file);
}

}  // namespace shellgame
