#include "shellgame/train/event_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/system/checksum.h"
#include "shellgame/text/read_json.h"

namespace shellgame {
namespace {

template <class Number>
void append_little(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

std::string record(const std::string& data) {
  std::string length;
  append_little(length, static_cast<std::uint64_t>(data.size()));
  std::string out = length;
  append_little(out, masked_crc(length));
  out += data;
  append_little(out, masked_crc(data));
  return out;
}

// Protocol buffers: a field is its number and kind, then its value.
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
void append_key(std::string& out, unsigned field, unsigned kind) {
  append_varint(out, field << 3 | kind);
}
void append_bytes(std::string& out, unsigned field, std::string_view bytes) {
  append_key(out, field, 2);
  append_varint(out, bytes.size());
  out += bytes;
}

std::string event(double wall_time) {
  std::string out;
  append_key(out, 1, 1);
  append_little(out, std::bit_cast<std::uint64_t>(wall_time));
  return out;
}

double number_or_zero(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

std::string event_file_start(double wall_time) {
  std::string out = event(wall_time);
  append_bytes(out, 3, "brain.Event:2");
  return record(out);
}

std::string scalar_event(double wall_time, std::int64_t step, const std::string& tag, float value) {
  std::string item;
  append_bytes(item, 1, tag);
  append_key(item, 2, 5);
  append_little(item, std::bit_cast<std::uint32_t>(value));
  std::string summary;
  append_bytes(summary, 1, item);
  std::string out = event(wall_time);
  append_key(out, 2, 0);
  append_varint(out, static_cast<std::uint64_t>(step));
  append_bytes(out, 5, summary);
  return record(out);
}

std::string events_of_metrics(const std::string& jsonl) {
  std::string out;
  const auto visit = [&](const MetricsLine& metrics) {
    const nlohmann::ordered_json& line = metrics.value;
    const std::int64_t step = metrics.step;
    const double time = number_or_zero(line, "time");
    for (const char* tag :
         {"loss", "accuracy", "learning_rate", "gradient_norm", "tokens_per_second", "stage"}) {
      if (line.contains(tag) && line[tag].is_number())
        out += scalar_event(time, step, std::string("train/") + tag, line[tag].get<float>());
    }
    if (!line.contains("evaluation") || !line["evaluation"].is_array()) return;
    for (const auto& cell : line["evaluation"]) {
      if (!cell.is_object()) continue;
      std::string where;  // 64_8
      for (const std::string& axis : cell_axes(cell))
        where += (where.empty() ? "" : "_") + cell_value(cell, axis);
      for (const char* key :
           {"accuracy", "final_accuracy", "last_eighth_accuracy", "cross_entropy"}) {
        if (cell.contains(key) && cell[key].is_number())
          out += scalar_event(time, step, "evaluate/" + where + "/" + key, cell[key].get<float>());
      }
    }
  };
  // Who reads the lines themselves says which ones are damaged.
  each_metrics_line(jsonl, "metrics.jsonl", visit, [](const std::string&) {});
  return out;
}

}  // namespace shellgame
