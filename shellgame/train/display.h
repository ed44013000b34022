// What a person sees of a run, on standard error: a bar with the latest numbers on a terminal,
// plain lines now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "shellgame/train/train_observer.h"

namespace shellgame {

class Display : public TrainObserver {
 public:
  explicit Display(bool quiet);  // quiet: only what is wrong
  ~Display() override;
  void noticed(const std::string& sentence, bool wrong) override;
  void stage_ends(const TrainingStage& stage) override;
  void step_done(const TrainingStep& report) override;
  void evaluated(const TrainingEvaluation& evaluation) override;
  void ended(const TrainingEnd& end) override;

 private:
  void clear();
  // A line of its own, which stays.
  void say(const std::string& sentence);
  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_, drawn_ = false;
  Clock::time_point shown_{};
};

// "2:05", "1:02:05".
std::string clock_text(double seconds);
// The one line of a report, at most `width` wide; with a bar if there is room.
std::string step_line(const TrainingStep& report, std::size_t width, bool bar);

}  // namespace shellgame
