// What a person sees of a run, on standard error: a bar with the latest numbers on a terminal,
// plain lines now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace shellgame {

struct TrainingStep {
  std::size_t stage = 0, stages = 1;
  std::string stage_name;  // "(16,2)"
  std::int64_t stage_step = 0, stage_steps = 1;
  std::int64_t step = 0, steps = 1;  // at most
  double loss = 0, accuracy = 0;     // of revealed values, running
  double tokens_per_second = 0;
  double utilisation = 0;   // of the machine's GEMM peak; 0: not known
  double seconds = 0;       // trained so far
  double step_seconds = 0;  // a step of this stage, lately
};

class Display {
 public:
  explicit Display(bool quiet);
  ~Display();
  void step(const TrainingStep& report);
  // A line of its own, which stays.
  void say(const std::string& sentence);
  // The same, of what is wrong: also where it is to be quiet.
  void warn(const std::string& sentence);

 private:
  void clear();
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point shown_{};
};

// "2:05", "1:02:05".
std::string clock_text(double seconds);
// The one line of a report, at most `width` wide; with a bar if there is room.
std::string step_line(const TrainingStep& report, std::size_t width, bool bar);

}  // namespace shellgame
