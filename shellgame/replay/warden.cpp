#include "shellgame/replay/warden.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "shellgame/replay/replay_script.h"
#include "shellgame/system/process.h"
#include "shellgame/text/error.h"

namespace shellgame {
namespace {

constexpr std::uint32_t kReplayJob = 0, kDoctestJob = 1;  // as in warden.py
enum class SessionEnd : std::uint32_t { kEnded, kTooLong, kTooMuch, kNoWarden };
constexpr std::uint64_t kMostOutput = 16 << 20;  // OUTPUT_LIMIT of warden.py
constexpr std::uint64_t kMostReply = kMostOutput + (1 << 20);
constexpr double kWardenSeconds = 30;  // more than the warden needs to end a session
constexpr std::uint32_t kRefused = std::numeric_limits<std::uint32_t>::max();

// All that Python needs; what the caller's environment holds beyond is none of a trace's business.
std::vector<std::string> bare_environment() {
  std::vector<std::string> variables{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  if (const char* libraries = ::getenv("LD_LIBRARY_PATH")) {
    variables.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
  }
  return variables;
}

std::string fresh_folder() {
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::string path =
      (error ? std::filesystem::path("/tmp") : temporary) / "shellgame-verify-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    fail("cannot make a folder '{}' for sessions: {}", path, ::strerror(errno));
  }
  return path;
}

}  // namespace

struct Warden::Answer {
  SessionEnd end = SessionEnd::kNoWarden;
  int status = 0;
  std::string bytes;  // frames: example, kind, length, text
  std::string failure;

  // What a person reads in place of an output.
  std::string how(double seconds) const {
    switch (end) {
      case SessionEnd::kTooLong:
        return fmt::format("[stopped: the session took longer than {:g} s]", seconds);
      case SessionEnd::kTooMuch:
        return fmt::format("[stopped: the session printed more than {} MiB]", kMostOutput >> 20);
      case SessionEnd::kNoWarden:
        return fmt::format("[lost: the process that watches the session {}]", failure);
      case SessionEnd::kEnded:
        break;
    }
    if (WIFSIGNALED(status)) {
      return fmt::format("[the session was killed by signal {} ({})]", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status)));
    }
    return fmt::format("[the session ended with exit code {}]", WEXITSTATUS(status));
  }
};

Warden::Warden(const ReplayOptions& options, const std::atomic<bool>& stop)
    : options_(options), stop_(stop), folder_(fresh_folder()) {
  try {
    start();
  } catch (...) {
    stop_process();
    throw;
  }
}

Warden::~Warden() { stop_process(); }

void Warden::start() {
  const std::vector<std::string> environment = bare_environment();
  // By its whole path: with a bare environment Python would look for its library beside another
  // one.
  process_ = std::make_unique<ScriptProcess>(
      found_program(options_.python), std::string(kSessionScript) + kConfineScript + kWardenScript,
      std::vector<std::string>{folder_, std::to_string(options_.memory_limit << 20),
                               options_.protection == Protection::kAll ? "1" : "0",
                               options_.protection != Protection::kLimitsOnly ? "1" : "0"},
      "shellgame warden\n", &environment, stop_);
  protections_.clear();
  std::string_view said = process_->greeting();
  version_ = said.substr(0, said.find('\n'));
  while (said.find('\n') != std::string_view::npos) {
    said.remove_prefix(said.find('\n') + 1);
    protections_.emplace_back(said.substr(0, said.find('\n')));
  }
}

void Warden::stop_process() {
  if (process_) process_->end();
  process_.reset();
  std::error_code ignored;  // a session without a warden may have left what we may not remove
  std::filesystem::remove_all(folder_, ignored);
}

Warden::Answer Warden::ask(std::uint32_t kind, const ReplayTrace& trace, std::string_view body) {
  if (!process_) {
    folder_ = fresh_folder();
    start();
  }
  const double seconds = options_.seconds_for(trace.cut.text().size());
  std::string head;
  const std::string_view numbers = hidden_bytes(trace);
  put_number<std::uint64_t>(head, numbers.size() + body.size());
  put_number(head, kind);
  put_number(head, trace.seed);
  put_number(head, trace.known.loads);
  put_number(head, static_cast<std::uint32_t>(trace.cut.examples().size()));
  put_number(head, hidden_count(trace));
  put_number(head, seconds);
  std::optional<std::string> reply =
      process_->ask({head, numbers, body}, seconds + kWardenSeconds, kMostReply);
  Answer answer;
  if (!reply) {
    answer.failure = process_->failure();
    stop_process();
    return answer;
  }
  FrameFields fields(*reply);
  answer.end = static_cast<SessionEnd>(fields.number<std::uint32_t>());
  answer.status = static_cast<int>(fields.number<std::uint32_t>());
  answer.bytes = reply->substr(std::min<std::size_t>(reply->size(), 2 * sizeof(std::uint32_t)));
  return answer;
}

// The session says what it printed, and it may say anything: whatever does not read as outputs in
// order ends it where it stands.
SessionOutputs Warden::replay(const ReplayTrace& trace) {
  std::string body;
  for (const ReplayExample& example : trace.cut.examples()) {
    put_number(body, static_cast<std::uint32_t>(example.source.size()));
    body += example.source;
  }
  const Answer answer = ask(kReplayJob, trace, body);
  SessionOutputs session;
  std::size_t begun = 0;
  const std::size_t all = trace.cut.examples().size();
  const auto stops = [&](const std::string& how) {
    session.end = SessionOutputs::End{begun == 0 ? 0 : begun - 1, how};
    return session;
  };
  for (FrameFields fields(answer.bytes); !fields.at_end();) {
    ExampleOutput output;
    output.example = fields.number<std::uint32_t>();
    output.kind = static_cast<OutputKind>(fields.number<std::uint32_t>());
    output.text = fields.bytes(fields.number<std::uint32_t>());
    if (!fields.complete()) break;  // it ended within a frame
    if (output.kind == OutputKind::kDone && output.example == all && begun == all) return session;
    if (output.kind == OutputKind::kBegins && output.example == begun && begun < all) {
      ++begun;
    } else if (output.kind <= OutputKind::kNoText &&
               (output.example + 1 == begun || (output.example == all && begun == all)) &&
               (session.outputs.empty() || session.outputs.back().example < output.example)) {
      session.outputs.push_back(std::move(output));
    } else {
      return stops("[the session wrote over its own results]");
    }
  }
  return stops(answer.how(options_.seconds_for(trace.cut.text().size())));
}

DoctestResult Warden::doctest(const ReplayTrace& trace) {
  const Answer answer = ask(kDoctestJob, trace, trace.cut.text());
  FrameFields fields(answer.bytes);
  const auto count = fields.number<std::uint32_t>();
  const auto kind = static_cast<OutputKind>(fields.number<std::uint32_t>());
  FrameFields lines(fields.bytes(fields.number<std::uint32_t>()));
  // Line 0 stands for "it broke doctest itself", as in session.py.
  if (!fields.complete() || kind != OutputKind::kDoctest) return {.refused = false, .lines = {0}};
  DoctestResult result{.refused = count == kRefused, .lines = {}};
  while (!lines.at_end()) result.lines.push_back(lines.number<std::uint32_t>());
  return result;
}

TraceResult Warden::run(const ReplayTrace& trace) {
  TraceResult result;
  if (!trace.cut.examples().empty()) result.session = replay(trace);
  // A session that came to a bad end would do so again.
  if (trace.doctest && !result.session.end) result.doctest = doctest(trace);
  return result;
}

}  // namespace shellgame
