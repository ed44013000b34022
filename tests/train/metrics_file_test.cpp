#include "shellgame/train/metrics_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "../system/scratch.h"
#include "shellgame/system/files.h"
#include "shellgame/text/error.h"
#include "shellgame/train/event_file.h"

namespace shellgame {
namespace {

nlohmann::ordered_json line(int step) { return {{"step", step}, {"loss", 0.5 * step}}; }

TEST(MetricsFile, IsCutBackToTheStepFromWhichARunGoesOn) {
  const ScratchFolder folder;
  {
    MetricsFile file(folder.path(), 0);
    for (int step = 1; step <= 5; ++step) file.append(line(step));
  }
  {
    MetricsFile file(folder.path(), 3);
    file.append(line(4));
  }
  EXPECT_EQ(read_file(folder / "metrics.jsonl"),
            "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"loss\":1.0}\n{\"step\":3,\"loss\":1.5}\n"
            "{\"step\":4,\"loss\":2.0}\n");
}

TEST(MetricsFile, TellsWhichStepIsMissing) {
  const ScratchFolder folder;
  {
    MetricsFile file(folder.path(), 0);
    EXPECT_EQ(file.first_missing(), 0);
    for (const int step : {1, 2, 3, 6}) file.append(line(step));
    file.append({{"step", 3}, {"evaluation", nlohmann::json::array()}});
  }
  EXPECT_EQ(MetricsFile(folder.path(), 6).first_missing(), 4);
  EXPECT_EQ(MetricsFile(folder.path(), 3).first_missing(), 0);
}

TEST(MetricsFile, ATornLastLineIsDropped) {
  const ScratchFolder folder;
  write_file(folder / "metrics.jsonl", "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"lo");
  MetricsFile file(folder.path(), 9);
  EXPECT_EQ(read_file(folder / "metrics.jsonl"), "{\"step\":1,\"loss\":0.5}\n");
}

TEST(MetricsFile, ADamagedLineCostsOnlyItself) {
  const ScratchFolder folder;
  const std::string first = "{\"step\":1,\"loss\":0.5}\n", last = "{\"step\":3,\"loss\":0.5}\n";
  for (const std::string bad :
       {"{\"step\":2,\"lo", "7", "{\"step\":\"x\"}", "{}", "{\"step\":null}", "{\"step\":-1}",
        "{\"step\":18446744073709551615}", "{\"step\":2e300}", ""}) {
    write_file(folder / "metrics.jsonl", first + bad + "\n" + last);
    const MetricsFile file(folder.path(), 3);
    EXPECT_EQ(read_file(folder / "metrics.jsonl"), first + last) << bad;
    EXPECT_EQ(file.first_missing(), 2);
  }
}

TEST(MetricsFile, TensorBoardsFileHasTheSameStepsOnce) {
  const ScratchFolder folder;
  {
    MetricsFile file(folder.path(), 0);
    for (int step = 1; step <= 5; ++step) file.append(line(step));
  }
  { MetricsFile file(folder.path(), 2); }
  const std::string lines = read_file(folder / "metrics.jsonl");
  EXPECT_EQ(read_file(folder / "tensorboard/events.out.tfevents.0.shellgame"),
            event_file_start(0) + events_of_metrics(lines));
}

TEST(MetricsFile, AFullDiskIsAnError) {
  const ScratchFolder folder;
  MetricsFile file(folder.path(), 0);
  // Its descriptor becomes that of the device that is always full.
  const std::string path = std::filesystem::canonical(folder / "metrics.jsonl");
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) != path) continue;
    const int full = ::open("/dev/full", O_WRONLY);
    ::dup2(full, std::stoi(entry.path().filename()));
    ::close(full);
  }
  EXPECT_THROW(file.append(line(1)), Error);
}

}  // namespace
}  // namespace shellgame
