#include "shellgame/train/event_file.h"

#include <gtest/gtest.h>

namespace shellgame {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// The bytes that tensorboard 2.21's own RecordWriter and protocol buffers give for the same events.
TEST(EventFile, IsTensorBoards) {
  EXPECT_EQ(
      event_file_start(1.5),
      from_hex("1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c"));
  EXPECT_EQ(scalar_event(2.5, 300, "train/loss", 0.25f),
            from_hex("2100000000000000017becf609000000000000044010ac022a130a110a0a74"
                     "7261696e2f6c6f7373150000803e3cc9cac5"));
}

TEST(EventFile, EveryNumberOfALineIsARecord) {
  const std::string records = events_of_metrics(
      "{\"step\":7,\"loss\":0.25,\"accuracy\":0.5,\"time\":2.5}\n"
      "{\"step\":7,\"evaluation\":[{\"commands\":64,\"spacing\":8,\"accuracy\":0.75}],\"time\":3}"
      "\n");
  EXPECT_EQ(records, scalar_event(2.5, 7, "train/loss", 0.25f) +
                         scalar_event(2.5, 7, "train/accuracy", 0.5f) +
                         scalar_event(3, 7, "evaluate/64_8/accuracy", 0.75f));
}

TEST(EventFile, ALengthMayBeARangeAndAnAccuracyMissing) {
  EXPECT_EQ(events_of_metrics("{\"step\":7,\"loss\":0.25,\"accuracy\":null,\"time\":2.5}\n"
                              "{\"step\":7,\"evaluation\":[{\"length\":\"3-12\",\"accuracy\":0.75},"
                              "{\"length\":40,\"accuracy\":0.5}],\"time\":3}\n"),
            scalar_event(2.5, 7, "train/loss", 0.25f) +
                scalar_event(3, 7, "evaluate/3-12/accuracy", 0.75f) +
                scalar_event(3, 7, "evaluate/40/accuracy", 0.5f));
}

}  // namespace
}  // namespace shellgame
