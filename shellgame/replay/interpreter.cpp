#include "shellgame/replay/interpreter.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "shellgame/replay/replay_script.h"
#include "shellgame/system/error.h"

namespace shellgame {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kGreeting = "shellgame replay ";
constexpr char kStranger[] = "does not answer as the replay script does";
constexpr double kStartSeconds = 60;
constexpr std::size_t kShownErrors = 1000;
// replay.py shows 2,000 characters of each of three texts, at most ten bytes each when escaped.
constexpr std::uint64_t kMismatchBytes = 70000;

template <class Number>
void put(std::string& bytes, Number number) {
  std::array<char, sizeof(Number)> raw;
  std::memcpy(raw.data(), &number, sizeof(Number));
  bytes.append(raw.data(), raw.size());
}

// Takes fields from the front of an answer.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number number() {
    static_assert(std::is_integral_v<Number>);
    const std::string_view raw = bytes(sizeof(Number));
    Number value{};
    std::memcpy(&value, raw.data(), sizeof(Number));
    return value;
  }

  std::string text() { return std::string(bytes(number<std::uint32_t>())); }

 private:
  std::string_view bytes(std::size_t count) {
    if (count > bytes_.size()) {
      fail("a replay's answer must hold {} more bytes, but {} are left", count, bytes_.size());
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

std::vector<std::string> command_of(const ReplayOptions& options) {
  // -I: no PYTHON* variables, nothing from the current folder or the user's; -S: no site packages,
  // which saves some 5 ms a start; -B: no byte code written; -u: last words are not lost in a
  // buffer.
  return {options.python, "-ISBu", "-c", kReplayScript, std::to_string(options.keep_mismatches)};
}

}  // namespace

void ReplayBatch::add(std::uint64_t index, std::uint32_t seed, bool doctest,
                      std::string_view text) {
  indices.push_back(index);
  put<std::uint32_t>(headers, seed);
  put<std::uint32_t>(headers, doctest ? 1 : 0);
  put<std::uint64_t>(headers, text.size());
  texts.append(text);
}

SharedCounter::SharedCounter() {
  descriptor_ = ::memfd_create("replay", MFD_CLOEXEC);
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, sizeof(std::uint64_t)) == 0) {
    address_ =
        ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (address_ != MAP_FAILED) return;
  }
  const std::string why = std::strerror(errno);
  if (descriptor_ >= 0) ::close(descriptor_);
  fail("cannot share memory with an interpreter: {}", why);
}

SharedCounter::~SharedCounter() {
  ::munmap(address_, sizeof(std::uint64_t));
  ::close(descriptor_);
}

Interpreter::Interpreter(const ReplayOptions& options, const std::atomic<bool>& stop)
    : options_(options), stop_(stop), process_(command_of(options), {current_.descriptor()}) {
  version_ = converse({}, nullptr, kStartSeconds);
  if (!version_.starts_with(kGreeting)) give_up(kStranger, nullptr);
  version_.erase(0, kGreeting.size());
}

ReplayReport Interpreter::run(const ReplayBatch& batch) {
  const std::size_t body = batch.headers.size() + batch.texts.size();
  const double seconds =
      options_.seconds_per_batch * (1 + std::floor(static_cast<double>(body) / 1e6));
  // The child's own alarm, should this process be gone by then; a little later than ours.
  const double alarm = std::min(std::ceil(seconds) + 5, 1e9);
  std::string head;
  put<std::uint64_t>(head, body);
  put<std::uint32_t>(head, static_cast<std::uint32_t>(batch.indices.size()));
  put<std::uint32_t>(head, static_cast<std::uint32_t>(alarm));

  current_.reset();
  const std::string answer = converse(head, &batch, seconds);
  Fields fields(answer);
  ReplayReport report;
  report.traces = batch.indices.size();
  for (std::size_t* count :
       {&report.examples, &report.outputs, &report.mismatches, &report.doctest_traces,
        &report.doctest_failures, &report.disagreements}) {
    *count = fields.number<std::uint64_t>();
  }
  const auto index_of = [&](std::uint64_t position) {
    if (position >= batch.indices.size()) {
      fail("a replay of {} traces answered about number {}", batch.indices.size(), position);
    }
    return batch.indices[position];
  };
  const auto disagreed = fields.number<std::int64_t>();
  if (disagreed >= 0) report.first_disagreement = index_of(static_cast<std::uint64_t>(disagreed));
  for (auto kept = fields.number<std::uint32_t>(); kept > 0; --kept) {
    Mismatch mismatch;
    mismatch.trace = index_of(fields.number<std::uint64_t>());
    mismatch.line = fields.number<std::uint64_t>();
    mismatch.source = fields.text();
    mismatch.expected = fields.text();
    mismatch.got = fields.text();
    report.first.push_back(std::move(mismatch));
  }
  return report;
}

// Sends a frame (its head, then the batch) and returns the payload of the frame that answers it.
std::string Interpreter::converse(std::string_view head, const ReplayBatch* batch, double seconds) {
  std::array<std::string_view, 3> unsent{head};
  if (batch != nullptr) unsent = {head, batch->headers, batch->texts};
  std::size_t part = 0;
  bool open = true;
  const auto start = Clock::now();
  const std::uint64_t limit = 1000 + options_.keep_mismatches * kMismatchBytes;
  for (;;) {
    if (received_.size() >= 8) {
      const auto length = Fields(received_).number<std::uint64_t>();
      if (length > limit) give_up(kStranger, batch);
      if (received_.size() >= 8 + length) {
        const std::string payload = received_.substr(8, length);
        received_.erase(0, 8 + length);
        return payload;
      }
    }
    if (!open) give_up("ended", batch);
    while (part + 1 < unsent.size() && unsent[part].empty()) ++part;
    open = process_.exchange(unsent[part], received_, milliseconds(100));
    if (stop_) fail("the replay was stopped");
    if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) {
      give_up(fmt::format("gave no answer within {:g} s", seconds), batch);
    }
  }
}

void Interpreter::give_up(const std::string& what, const ReplayBatch* batch) {
  const bool ended = what == "ended";
  const std::string ending = process_.end(milliseconds(ended ? 1000 : 0));
  std::string where = " at its start";
  if (batch != nullptr) {
    const std::uint64_t position = current_.value();
    where = position < batch->indices.size()
                ? fmt::format(" in trace {}", batch->indices[position])
                : fmt::format(" after trace {}", batch->indices.back());
  }
  std::string said = process_.errors();
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  if (said.size() > kShownErrors) said = "[...] " + said.substr(said.size() - kShownErrors);
  fail("the interpreter '{}' {}{}{}{}", options_.python, ended ? "ended with " + ending : what,
       where, said.empty() ? ", without a word on standard error" : "; it said: ", said);
}

}  // namespace shellgame
