// Progress on standard error for work longer than a second: a bar with rate and time left on a
// terminal, a plain line every ten seconds elsewhere. Silent on short work.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace shellgame {

class Progress {
 public:
  // `what` names the work ("writing traces"), `unit` its items ("traces").
  Progress(std::string what, std::string unit, std::size_t total);
  ~Progress();  // clears the bar
  void advance(std::size_t items);

 private:
  void show();
  using Clock = std::chrono::steady_clock;
  std::string what_, unit_;
  std::size_t total_, done_ = 0;
  Clock::time_point start_, shown_;
  bool terminal_, drawn_ = false;
};

}  // namespace shellgame
