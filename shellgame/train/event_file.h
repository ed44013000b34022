// Scalars for TensorBoard: its record files (length, masked CRC-32C, a protocol buffer) written
// here, so that no library is needed. docs/formats.md has the layout.
#pragma once

#include <cstdint>
#include <string>

namespace shellgame {

// The bytes of one record that holds one event.
std::string event_file_start(double wall_time);
std::string scalar_event(double wall_time, std::int64_t step, const std::string& tag, float value);

// The records of all numbers of a metrics file's lines ("loss", "accuracy", ...).
std::string events_of_metrics(const std::string& jsonl);

}  // namespace shellgame
