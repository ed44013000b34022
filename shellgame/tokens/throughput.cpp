#include "shellgame/tokens/throughput.h"

#include <chrono>

#include "shellgame/system/error.h"

namespace shellgame {

double tokenizer_throughput(const Tokenizer& tokenizer, std::string_view text, double seconds) {
  if (text.empty()) wrong_use("a text to measure a tokenizer with must not be empty");
  using Clock = std::chrono::steady_clock;
  std::vector<std::uint32_t> ids;
  tokenizer.encode(text, ids);
  const Clock::time_point start = Clock::now();
  double passed = 0, bytes = 0;
  do {
    ids.clear();
    tokenizer.encode(text, ids);
    bytes += static_cast<double>(text.size());
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  } while (passed < seconds);
  return bytes / passed;
}

}  // namespace shellgame
