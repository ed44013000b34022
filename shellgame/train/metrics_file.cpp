#include "shellgame/train/metrics_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/text/read_json.h"
#include "shellgame/train/event_file.h"

namespace shellgame {
namespace {

constexpr std::size_t kEventBytes = 64 * 1024;  // gathered before they are written

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("'{}' cannot be written: {}", path, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

int open_to_append(const std::string& path) {
  // A pipe that came in between is not waited for.
  const int file =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) fail("'{}' cannot be written: {}", path, std::strerror(errno));
  return file;
}

// The whole lines of steps up to `last`, and how many steps there are without a gap.
std::string lines_up_to(const std::string& path, std::int64_t last, std::int64_t& steps,
                        std::vector<std::string>& damaged) {
  std::string kept;
  steps = 0;
  const auto visit = [&](const MetricsLine& line) {
    if (line.step > last) return;
    if (line.value.contains("loss") && line.step == steps + 1) ++steps;
    kept += std::string(line.text) + "\n";
  };
  each_metrics_line(read_file(path), path, visit,
                    [&](const std::string& sentence) { damaged.push_back(sentence); });
  return kept;
}

}  // namespace

bool is_time_field(const std::string& name) {
  return name == "time" || name == "seconds" || name == "tokens_per_second" ||
         name == "utilisation" || name == "data_share";
}

MetricsFile::MetricsFile(const std::string& directory, std::int64_t last_step)
    : directory_(directory), path_(directory + "/metrics.jsonl") {
  std::string kept;
  std::int64_t steps = 0;
  if (std::filesystem::exists(path_)) kept = lines_up_to(path_, last_step, steps, damaged_);
  if (steps < last_step) first_missing_ = steps + 1;
  write_record(path_, kept);
  lines_ = open_to_append(path_);
  open_events(kept);
}

void MetricsFile::open_events(const std::string& kept) {
  const std::string folder = directory_ + "/tensorboard";
  std::filesystem::create_directories(folder);
  events_path_ = folder + "/events.out.tfevents.0.shellgame";
  write_record(events_path_, event_file_start(0) + events_of_metrics(kept));
  events_ = open_to_append(events_path_);
}

MetricsFile::~MetricsFile() {
  try {
    flush_events();
  } catch (const Error&) {  // the lines hold all of it
  }
  if (lines_ >= 0) ::close(lines_);
  if (events_ >= 0) ::close(events_);
}

void MetricsFile::append(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  write_all(lines_, text, path_);
  waiting_ += events_of_metrics(text);
  if (waiting_.size() > kEventBytes) flush_events();
}

void MetricsFile::sync() {
  flush_events();
  if (::fsync(lines_) != 0) fail("'{}' cannot be written: {}", path_, std::strerror(errno));
}

void MetricsFile::flush_events() {
  const std::string bytes = std::exchange(waiting_, {});
  write_all(events_, bytes, events_path_);
}

}  // namespace shellgame
