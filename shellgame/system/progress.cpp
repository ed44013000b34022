#include "shellgame/system/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "shellgame/system/messages.h"

namespace shellgame {

Progress::Progress(std::string what, std::string unit, std::size_t total)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      total_(total),
      start_(Clock::now()),
      shown_(start_),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_ && terminal_) draw("\r\033[K");
}

void Progress::advance(std::size_t items) {
  done_ = std::min(done_ + items, total_);  // the last step may be a short one
  const auto now = Clock::now();
  using std::chrono::milliseconds;
  if (now - start_ < milliseconds(1000)) return;
  if (now - shown_ < (terminal_ ? milliseconds(100) : milliseconds(10000))) return;
  shown_ = now;
  show();
}

void Progress::show() {
  const double seconds = std::chrono::duration<double>(shown_ - start_).count();
  const double rate = static_cast<double>(done_) / seconds;
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0.0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0.0;
  drawn_ = true;
  if (!terminal_) {
    say("{}: {} of {} {}, {:.0f} a second, {:.0f} s left", what_, done_, total_, unit_, rate, left);
    return;
  }
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share * kWidth);
  draw(fmt::format("\r\033[K{} [{:#<{}}{: <{}}] {:3.0f} %  {:.0f} {}/s  {:.0f} s left", what_, "",
                   filled, "", kWidth - filled, share * 100, rate, unit_, left));
}

}  // namespace shellgame
