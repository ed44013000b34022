// A child process with pipes to its standard input, output and error. Bytes move both ways at once,
// so that full pipes cannot block parent and child on each other; a child that stops reading raises
// no SIGPIPE here. One object is for one thread; different objects may be on different threads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace shellgame {

// Where a program is found that is started by this name: an absolute path, or the name itself if
// PATH has no such program.
std::string found_program(const std::string& name);

class Process {
 public:
  // Starts command[0], looked up in PATH, in the caller's folder and with its environment, or with
  // exactly the variables of `environment` ("NAME=value"). `inherited` descriptors become 3, 4, ...
  // of the child; it gets no others. Throws Error if there is no such program or the system
  // refuses.
  explicit Process(const std::vector<std::string>& command, const std::vector<int>& inherited = {},
                   const std::vector<std::string>* environment = nullptr);
  ~Process();  // kills the child if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Waits at most `patience` until bytes can move, then moves some: takes from the front of
  // `unsent` what the child's input accepts, appends to `received` what it wrote. Returns false
  // once the child has closed its output. What a child that closed its input is sent is dropped.
  bool exchange(std::string_view& unsent, std::string& received,
                std::chrono::milliseconds patience);

  // Tells the child that nothing more will come.
  void close_input();

  // Closes the child's input, gives it `patience` to end, kills it then, and tells how it ended:
  // "exit code 0", "signal 9 (Killed)". May be called again.
  const std::string& end(std::chrono::milliseconds patience);

  // The last few thousand bytes that the child wrote to its standard error and that exchange() or
  // end() met.
  const std::string& errors() const { return errors_; }
  pid_t id() const { return id_; }

 private:
  void read_errors();
  pid_t id_ = -1;
  int input_ = -1, output_ = -1, error_ = -1;  // our ends, non-blocking
  std::string errors_;
  std::string ending_;  // empty while the child has not been waited for
};

}  // namespace shellgame
