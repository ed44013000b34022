#include "shellgame/system/messages.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

// Keeps SIGPIPE from this thread: a write to a pipe that nobody reads then fails with EPIPE only.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec now{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

[[noreturn]] void output_failed() {
  fail("cannot write to standard output: {}", std::strerror(errno));
}

}  // namespace

void draw(std::string_view bytes) noexcept {
  const WithoutPipeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_output(std::string_view bytes) {
  if (bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) output_failed();
}

void flush_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

void print_data(std::string_view bytes) {
  if (::isatty(STDOUT_FILENO) != 0) return write_output(printable_lines(bytes));
  write_output(bytes);
}

void take_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The wrong way round for input and output, so that using them is still an error; messages may
    // get lost. open() gives the lowest number that is free: this one.
    const int mode = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", mode) != descriptor)
      fail("the program must have descriptor {}, and '/dev/null' cannot be opened there",
           descriptor);
  }
}

}  // namespace shellgame
