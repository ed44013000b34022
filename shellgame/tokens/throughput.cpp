#include "shellgame/tokens/throughput.h"

#include <ctime>

#include "shellgame/system/error.h"

namespace shellgame {
namespace {

// Of this thread alone: on a shared machine the time on the wall says more about the neighbours.
double processor_seconds() {
  timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
    fail("the system must tell a thread's processor time, but does not");
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

double tokenizer_throughput(const Tokenizer& tokenizer, std::string_view text, double seconds) {
  if (text.empty()) wrong_use("a text to measure a tokenizer with must not be empty");
  std::vector<std::uint32_t> ids;
  tokenizer.encode(text, ids);
  const double start = processor_seconds();
  double passed = 0, bytes = 0;
  do {
    ids.clear();
    tokenizer.encode(text, ids);
    bytes += static_cast<double>(text.size());
    passed = processor_seconds() - start;
  } while (passed < seconds || passed <= 0);
  return bytes / passed;
}

}  // namespace shellgame
