#include "shellgame/system/parent_death.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

namespace shellgame {
namespace {

// The parent's number. By the environment, since posix_spawn cannot ask for the signal itself.
constexpr const char* kParent = "SHELLGAME_ENDS_WITH";

}  // namespace

void take_children_along() { ::setenv(kParent, std::to_string(::getpid()).c_str(), 1); }

void end_with_parent() {
  const char* const value = ::getenv(kParent);
  if (value == nullptr) return;
  const std::string parent = value;
  ::unsetenv(kParent);  // not for the children of this one
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have ended before: then somebody else is the parent now, and no signal will come.
  if (std::to_string(::getppid()) != parent) ::raise(SIGTERM);
}

}  // namespace shellgame
