// Files of traces, as the tool writes them and as people keep them.
#include <nlohmann/json.hpp>

#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/traces/trace.h"

namespace shellgame {
namespace {

TraceText trace_of_json(std::string_view line, const std::string& file, std::size_t number,
                        std::uint64_t position) {
  const std::string where = fmt::format("{}:{}", file, number);
  const nlohmann::json object = parse_json(line, file, number);
  if (!object.is_object()) throw InputError(where, "a line must be one JSON object");
  const auto text = object.find("text");
  if (text == object.end() || !text->is_string())
    throw InputError(where, "a trace must have a string 'text'");
  TraceText trace{position, text->get<std::string>(), std::nullopt, std::nullopt, false, number};
  if (const auto index = object.find("index"); index != object.end()) {
    if (!index->is_number_unsigned()) throw InputError(where, "'index' must be a whole number");
    trace.index = index->get<std::uint64_t>();
  }
  if (const auto seed = object.find("python_seed"); seed != object.end() && !seed->is_null()) {
    if (!seed->is_number_unsigned() || seed->get<std::uint64_t>() > UINT32_MAX) {
      throw InputError(where, "'python_seed' must be a whole number below 2^32");
    }
    trace.python_seed = seed->get<std::uint64_t>();
  }
  if (const auto numbers = object.find("hidden_numbers"); numbers != object.end()) {
    if (!numbers->is_array()) throw InputError(where, "'hidden_numbers' must be a list");
    trace.hidden_numbers.emplace();
    for (const nlohmann::json& drawn : *numbers) {
      if (!drawn.is_number() || !(drawn.get<double>() >= 0 && drawn.get<double>() < 1))
        throw InputError(where, "each of 'hidden_numbers' must be a number from 0 to below 1");
      trace.hidden_numbers->push_back(drawn.get<double>());
    }
  }
  return trace;
}

// The number after `word` in a header comment.
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  std::size_t i = at + word.size(), digits = 0;
  for (; i < line.size() && line[i] >= '0' && line[i] <= '9' && digits < 19; ++i, ++digits) {
    number = 10 * number + static_cast<std::uint64_t>(line[i] - '0');
  }
  return digits > 0 ? std::optional(number) : std::nullopt;
}

// Whether a line gives initial values or prepares for them: what a trace begins with.
bool begins_trace(std::string_view line) {
  if (line.starts_with(">>> from ")) return true;
  const std::size_t equals = line.find(" = ");
  if (!line.starts_with(">>> ") || equals == std::string_view::npos || equals + 3 >= line.size())
    return false;
  const std::string_view value = line.substr(equals + 3);
  return value.starts_with("sample(") || value.starts_with("start(") || value[0] == '\'' ||
         value[0] == '"' || value[0] == '-' || (value[0] >= '0' && value[0] <= '9');
}

std::vector<TraceText> traces_of_text(std::string_view content, const std::string& file) {
  std::vector<TraceText> traces;
  bool open = false;                   // whether the last trace may go on
  bool under_way = false;              // whether it is past its initial values
  std::size_t blanks = 0;              // lines since its last one
  std::optional<TraceText> announced;  // by a header comment
  std::size_t number = 0;
  while (!content.empty()) {
    ++number;
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      ++blanks;
    } else if (line.starts_with("# shellgame trace:")) {
      open = false;
      announced = TraceText{number_after(line, ", index ").value_or(traces.size()),
                            "",
                            std::nullopt,
                            std::nullopt,
                            false,
                            number};
      announced->forced = line.find(", forced") != std::string_view::npos;
      announced->python_seed = number_after(line, ", python_seed ");
      if (announced->python_seed.value_or(0) > UINT32_MAX) {
        throw InputError(fmt::format("{}:{}", file, number),
                         "python_seed must be a whole number below 2^32");
      }
    } else {
      // A blank line may stand between any two examples; a new trace begins where values are given
      // anew.
      if (open && blanks > 0 && under_way && begins_trace(line)) open = false;
      if (!open) {
        if (!announced)
          announced = TraceText{traces.size(), "", std::nullopt, std::nullopt, false, number};
        announced->line = number;
        traces.push_back(*std::move(announced));
        announced.reset();
        open = true;
        under_way = false;
        blanks = 0;
      }
      traces.back().text.append(blanks, '\n');
      blanks = 0;
      under_way = under_way || (line.starts_with(">>> ") && !begins_trace(line) &&
                                !line.starts_with(">>> def "));
      traces.back().text.append(line);
      traces.back().text += '\n';
    }
  }
  return traces;
}

}  // namespace

std::vector<TraceText> read_traces(std::string_view content, const std::string& file) {
  if (!content.starts_with('{')) return traces_of_text(content, file);
  std::vector<TraceText> traces;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    traces.push_back(trace_of_json(line, file, number, traces.size()));
  }
  return traces;
}

}  // namespace shellgame
