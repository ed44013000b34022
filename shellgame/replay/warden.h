// One CPython that runs warden.py: sessions of any text, each in a process of its own that can
// reach as little as the system lets us take away. See docs/traces.md for what that is.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "shellgame/replay/frames.h"
#include "shellgame/replay/interpreter.h"
#include "shellgame/replay/replay.h"

namespace shellgame {

class Warden {
 public:
  Warden(const ReplayOptions& options, const std::atomic<bool>& stop);
  ~Warden();
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;

  const std::string& version() const { return version_; }
  // What keeps sessions from the rest of the system: "no network", "another user", ...
  const std::vector<std::string>& protections() const { return protections_; }
  // Never throws because of what the session did.
  TraceResult run(const ReplayTrace& trace);

 private:
  struct Answer;
  void start();
  void stop_process();
  Answer ask(std::uint32_t kind, const ReplayTrace& trace, std::string_view body);
  SessionOutputs replay(const ReplayTrace& trace);
  DoctestResult doctest(const ReplayTrace& trace);

  const ReplayOptions& options_;
  const std::atomic<bool>& stop_;
  std::string folder_;  // sessions have their own folders in it; it goes with this object
  std::unique_ptr<ScriptProcess> process_;
  std::string version_;
  std::vector<std::string> protections_;
};

}  // namespace shellgame
