#include "shellgame/replay/frames.h"

#include <bit>
#include <chrono>

#include "shellgame/text/error.h"

namespace shellgame {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian");

using FrameClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char kStranger[] = "does not answer as the replay script does";
constexpr double kStartSeconds = 60;
constexpr std::uint64_t kMostGreeting = 10000;
constexpr std::size_t kShownErrors = 1000;
constexpr milliseconds kClearingUp{15000};  // more than warden.py takes to end what it started

std::vector<std::string> script_command(const std::string& python, const std::string& script,
                                        const std::vector<std::string>& arguments) {
  // -I: no PYTHON* variables, nothing from the current folder or the user's; -S: no site packages,
  // which saves some 5 ms a start; -B: no byte code written; -u: last words are not lost in a
  // buffer.
  std::vector<std::string> command{python, "-ISBu", "-c", script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

ScriptProcess::ScriptProcess(const std::string& python, const std::string& script,
                             const std::vector<std::string>& arguments, std::string_view greeting,
                             const std::vector<std::string>* environment,
                             const std::atomic<bool>& stop)
    : python_(python),
      stop_(stop),
      process_(script_command(python, script, arguments), {}, environment) {
  std::optional<std::string> said = ask({}, kStartSeconds, kMostGreeting);
  if (said && !said->starts_with(greeting)) {
    failure_ = kStranger;
    process_.end(milliseconds(0));
  }
  if (!failure_.empty()) give_up("at its start");
  greeting_ = said->substr(greeting.size());
}

std::optional<std::string> ScriptProcess::ask(std::initializer_list<std::string_view> parts,
                                              double seconds, std::uint64_t most) {
  std::vector<std::string_view> unsent(parts);
  unsent.emplace_back();
  std::size_t part = 0;
  bool open = true;
  const auto start = FrameClock::now();
  while (failure_.empty()) {
    if (received_.size() >= sizeof(std::uint64_t)) {
      const auto length = FrameFields(received_).number<std::uint64_t>();
      if (length > most) {
        failure_ = kStranger;
        break;
      }
      if (received_.size() >= sizeof(length) + length) {
        std::string payload = received_.substr(sizeof(length), length);
        received_.erase(0, sizeof(length) + length);
        return payload;
      }
    }
    if (!open) {
      failure_ = "ended with " + process_.end(milliseconds(1000));
      break;
    }
    while (part + 1 < unsent.size() && unsent[part].empty()) ++part;
    open = process_.exchange(unsent[part], received_, milliseconds(100));
    if (stop_) fail("the replay was stopped");
    if (std::chrono::duration<double>(FrameClock::now() - start).count() > seconds) {
      failure_ = fmt::format("gave no answer within {:g} s", seconds);
    }
  }
  process_.end(milliseconds(0));
  return std::nullopt;
}

void ScriptProcess::give_up(const std::string& where) const {
  std::string said = process_.errors();
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  if (said.size() > kShownErrors) said = "[...] " + said.substr(said.size() - kShownErrors);
  fail("the interpreter '{}' {} {}{}{}", python_, failure_, where,
       said.empty() ? ", without a word on standard error" : "; it said: ", said);
}

void ScriptProcess::end() { process_.end(kClearingUp); }

}  // namespace shellgame
