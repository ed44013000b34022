#include "shellgame/tokens/throughput.h"

#include "shellgame/system/processor_time.h"
#include "shellgame/text/error.h"

namespace shellgame {

double tokenizer_throughput(const Tokenizer& tokenizer, std::string_view text, double seconds) {
  if (text.empty()) wrong_use("a text to measure a tokenizer with must not be empty");
  std::vector<std::uint32_t> ids;
  tokenizer.encode(text, ids);
  const double start = thread_processor_seconds();
  double passed = 0, bytes = 0;
  do {
    ids.clear();
    tokenizer.encode(text, ids);
    bytes += static_cast<double>(text.size());
    passed = thread_processor_seconds() - start;
  } while (passed < seconds || passed <= 0);
  return bytes / passed;
}

}  // namespace shellgame
