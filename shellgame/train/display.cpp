#include "shellgame/train/display.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "shellgame/evaluate/cell_name.h"
#include "shellgame/system/messages.h"

namespace shellgame {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLine = std::chrono::seconds(10);

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::string rate_text(double rate) {
  return rate >= 10'000 ? fmt::format("{:.0f}k", rate / 1000) : fmt::format("{:.0f}", rate);
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string step_line(const TrainingStep& r, std::size_t width, bool bar) {
  const std::string name = printable(r.stage_name);  // of a file
  const double left = r.step_seconds * static_cast<double>(r.steps - r.step);
  const std::string peak =
      r.utilisation > 0 ? fmt::format("  {:.0f} % of peak", 100 * r.utilisation) : "";
  // From the whole text to what fits a narrow terminal: what matters least goes first.
  const std::string texts[] = {
      fmt::format("stage {}/{} {}  step {}/{}  loss {:.4f}  revealed {:.3f}  {} tokens/s{}  {} "
                  "elapsed, at most {} left",
                  r.stage + 1, r.stages, name, r.stage_step, r.stage_steps, r.loss, r.accuracy,
                  rate_text(r.tokens_per_second), peak, clock_text(r.seconds), clock_text(left)),
      fmt::format("{}/{} {}  step {}/{}  loss {:.3f}  revealed {:.3f}  {}/s{}  {} left",
                  r.stage + 1, r.stages, name, r.stage_step, r.stage_steps, r.loss, r.accuracy,
                  rate_text(r.tokens_per_second), peak, clock_text(left)),
      fmt::format("{}/{} {}  loss {:.3f}  revealed {:.3f}  {}/s  {} left", r.stage + 1, r.stages,
                  name, r.loss, r.accuracy, rate_text(r.tokens_per_second), clock_text(left)),
      fmt::format("{}/{}  revealed {:.3f}  {} left", r.stage + 1, r.stages, r.accuracy,
                  clock_text(left))};
  constexpr std::size_t kLeast = 12;
  for (const std::string& text : texts) {
    if (!bar || text.size() + kLeast >= width) continue;
    const std::size_t room = std::min<std::size_t>(30, width - text.size() - 4);
    const auto full = static_cast<std::size_t>(
        std::lround(static_cast<double>(room) * static_cast<double>(r.stage_step) /
                    static_cast<double>(std::max<std::int64_t>(1, r.stage_steps))));
    std::string drawn;
    for (std::size_t i = 0; i < room; ++i) drawn += i < full ? "█" : "░";
    return drawn + " " + text;
  }
  return texts[bar ? 3 : 0].substr(0, std::max<std::size_t>(1, width - 1));
}

Display::Display(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

Display::~Display() { clear(); }

void Display::clear() {
  if (!drawn_) return;
  draw("\r\x1b[K");
  drawn_ = false;
}

void Display::step_done(const TrainingStep& report) {
  if (quiet_) return;
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine))) return;
  shown_ = now;
  if (terminal_) {
    draw("\r\x1b[K" + step_line(report, terminal_width(), true));
    drawn_ = true;
  } else {
    shellgame::say("{}", step_line(report, 400, false));
  }
}

void Display::say(const std::string& sentence) { noticed(sentence, false); }

void Display::noticed(const std::string& sentence, bool wrong) {
  if (quiet_ && !wrong) return;
  clear();
  shellgame::say("{}", sentence);
}

void Display::stage_ends(const TrainingStage& stage) {
  say(fmt::format("stage {} {} finished after {} steps: accuracy {:.4f}, {} tokens, {}",
                  stage.stage + 1, stage.name, stage.steps, stage.accuracy, stage.tokens,
                  clock_text(stage.seconds)));
}

void Display::evaluated(const TrainingEvaluation& evaluation) {
  for (const auto& cell : evaluation.cells)
    say(fmt::format("step {}: accuracy {:.4f} at {}", evaluation.step, cell.value("accuracy", 0.0),
                    cell_name(cell)));
}

void Display::ended(const TrainingEnd& end) {
  if (!end.complete) {
    say(fmt::format("stopped at step {}; use --resume to continue", end.step));
    return;
  }
  say(fmt::format("{}: {} steps, {} tokens, {}; accuracy {:.4f} over the last steps", end.model,
                  end.step, end.tokens, clock_text(end.seconds), end.accuracy));
}

}  // namespace shellgame
