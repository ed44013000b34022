#include "shellgame/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "shellgame/system/interrupts.h"
#include "shellgame/text/error.h"

extern char** environ;

namespace shellgame {
namespace {

constexpr std::size_t kErrorsKept = 4000;

std::string reason(int code) { return std::strerror(code); }

void close_once(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// A descriptor that is closed when it goes out of scope.
struct Descriptor {
  int value = -1;
  Descriptor() = default;
  explicit Descriptor(int descriptor) : value(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_once(value); }
  int release() { return std::exchange(value, -1); }
};

// A connection: of a pipe we take the reading end. What we send goes through a socket, because only
// send() can be told not to raise SIGPIPE; the program's own handling of that signal stays as it
// is.
void connect(bool socket, Descriptor& ours, Descriptor& theirs) {
  std::array<int, 2> ends{};
  const int failed = socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data())
                            : ::pipe2(ends.data(), O_CLOEXEC);
  if (failed != 0) fail("cannot make a pipe to a child process: {}", reason(errno));
  ours.value = ends[0];
  theirs.value = ends[1];
  ::fcntl(ours.value, F_SETFL, O_NONBLOCK);
}

// The same file under a number that no dup2 to the child's low numbers can overwrite.
int lifted(int descriptor, std::size_t above) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(above));
  if (copy < 0) fail("cannot hand a descriptor to a child process: {}", reason(errno));
  return copy;
}

// Never for 0 or below: kill() would take that for a whole group, or for every process there is.
void kill_only(pid_t child) {
  if (child > 0) ::kill(child, SIGKILL);
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

// posix_spawn's two objects, freed on every way out.
struct SpawnPlan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    // The child must not inherit that we block or ignore a signal, but for what the user told us to
    // ignore (`nohup`, jobs in the background): that is meant for our children, too.
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    for (const int signal : {SIGHUP, SIGINT}) {
      if (is_ignored(signal)) ::sigdelset(&all, signal);
    }
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

std::string found_program(const std::string& name) {
  const char* const path = ::getenv("PATH");
  if (name.find('/') != std::string::npos) return std::filesystem::absolute(name).string();
  for (std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path; !rest.empty();) {
    const std::size_t end = rest.find(':');
    const std::filesystem::path folder = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    const std::filesystem::path program =
        std::filesystem::absolute(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0)
      return program.string();
  }
  return name;
}

Process::Process(const std::vector<std::string>& command, const std::vector<int>& inherited,
                 const std::vector<std::string>* environment) {
  if (command.empty()) wrong_use("a command must name a program, but it is empty");
  Descriptor input, output, error;
  {
    Descriptor child_input, child_output, child_error;
    connect(true, input, child_input);
    connect(false, output, child_output);
    connect(false, error, child_error);
    std::vector<int> given{child_input.value, child_output.value, child_error.value};
    given.insert(given.end(), inherited.begin(), inherited.end());
    std::vector<std::unique_ptr<Descriptor>> high;
    SpawnPlan plan;
    for (std::size_t i = 0; i < given.size(); ++i) {
      high.push_back(std::make_unique<Descriptor>(lifted(given[i], given.size())));
      ::posix_spawn_file_actions_adddup2(&plan.files, high.back()->value, static_cast<int>(i));
    }
    // Files that we hold open without close-on-exec are none of the child's business.
    ::posix_spawn_file_actions_addclosefrom_np(&plan.files, static_cast<int>(given.size()));
    const auto pointers = [](const std::vector<std::string>& words) {
      std::vector<char*> list;
      for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
      list.push_back(nullptr);
      return list;
    };
    const std::vector<char*> arguments = pointers(command);
    const std::vector<char*> variables = pointers(environment ? *environment : command);
    const int code = ::posix_spawnp(&id_, command[0].c_str(), &plan.files, &plan.attributes,
                                    arguments.data(), environment ? variables.data() : environ);
    if (code != 0) fail("cannot run '{}': {}", command[0], reason(code));
  }
  input_ = input.release();
  output_ = output.release();
  error_ = error.release();
}

Process::~Process() {
  if (ending_.empty()) kill_only(id_);
  end(std::chrono::milliseconds(0));
  close_once(output_);
  close_once(error_);
}

bool Process::exchange(std::string_view& unsent, std::string& received,
                       std::chrono::milliseconds patience) {
  // poll() skips negative descriptors; an input with nothing to send must not wake it.
  std::array<pollfd, 3> ends{
      {{unsent.empty() ? -1 : input_, POLLOUT, 0}, {output_, POLLIN, 0}, {error_, POLLIN, 0}}};
  if (input_ < 0) unsent = {};
  const int ready = ::poll(ends.data(), ends.size(), static_cast<int>(patience.count()));
  if (ready < 0 && errno != EINTR) fail("cannot wait for a child process: {}", reason(errno));
  if (ready <= 0) return output_ >= 0;

  if (ends[0].revents != 0) {
    const ssize_t sent = ::send(input_, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      unsent.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      close_once(input_);  // nobody reads any more; how the child ended will say why
      unsent = {};
    }
  }
  if (ends[2].revents != 0) read_errors();
  if (ends[1].revents != 0) {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = ::read(output_, buffer.data(), buffer.size());
    if (got > 0) received.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) close_once(output_);
  }
  return output_ >= 0;
}

void Process::close_input() { close_once(input_); }

void Process::read_errors() {
  std::array<char, 1 << 12> buffer;
  const ssize_t got = ::read(error_, buffer.data(), buffer.size());
  if (got > 0) {
    errors_.append(buffer.data(), static_cast<std::size_t>(got));
    if (errors_.size() > kErrorsKept) errors_.erase(0, errors_.size() - kErrorsKept);
  } else if (got == 0) {
    close_once(error_);
  }
}

const std::string& Process::end(std::chrono::milliseconds patience) {
  if (id_ <= 0) ending_ = "no start";  // waitpid() would wait for any child
  if (!ending_.empty()) return ending_;
  close_once(input_);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool killed = false;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(id_, &status, killed ? 0 : WNOHANG);
    if (ended == id_) ending_ = ending_of(status);
    // Someone else may have waited for it, or children are not to be waited for at all.
    if (ended < 0 && errno != EINTR) ending_ = "an unknown end";
    if (!ending_.empty()) break;
    if (!killed && std::chrono::steady_clock::now() >= deadline) {
      kill_only(id_);
      killed = true;
    } else if (!killed) {
      // A child that still writes must not hang on a full pipe.
      std::string_view nothing;
      std::string unread;
      exchange(nothing, unread, std::chrono::milliseconds(output_ < 0 && error_ < 0 ? 1 : 5));
    }
  }
  // What is left in the pipe; a grandchild may hold it open, so only what is there at once.
  for (int i = 0; i < 64 && error_ >= 0; ++i) {
    pollfd end{error_, POLLIN, 0};
    if (::poll(&end, 1, 0) <= 0) break;
    read_errors();
  }
  return ending_;
}

}  // namespace shellgame
