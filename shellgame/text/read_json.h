// The one reader of JSON as a tree, for files of strangers and for our own that may be damaged.
// Refused with one sentence and its place: wrong syntax, text that is not UTF-8, a key twice in one
// object, nesting that would exhaust the stack of what walks the tree afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shellgame {

// Lists and tables inside of each other, in JSON and in TOML. Printing, comparing and converting a
// tree are recursive, so that a deeper one could end the program.
inline constexpr std::size_t kMaxNesting = 100;

// Throws InputError with "file:line:column" (as much of it as is known); the text begins at
// `first_line` of the file.
nlohmann::json parse_json(std::string_view text, const std::string& file,
                          std::size_t first_line = 1);
// The same, keys in the order of the text.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& file,
                                          std::size_t first_line = 1);

// The lines of a run's metrics.jsonl: objects with a "step" (0 or more). A line that is none is
// told to `damaged` by a sentence with its place, and is passed over. A last line without its end
// is being written, or was torn, and is left out.
struct MetricsLine {
  std::string_view text;  // without the newline
  std::int64_t step = 0;
  nlohmann::ordered_json value;
};
void each_metrics_line(std::string_view text, const std::string& file,
                       const std::function<void(const MetricsLine&)>& visit,
                       const std::function<void(const std::string& sentence)>& damaged);

}  // namespace shellgame
