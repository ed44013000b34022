// The project's exceptions. Every message is one sentence that says what must hold, what was
// received and where; the tool prints it after "shellgame: " and exits with the code that the
// exception carries.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace shellgame {

// A failure of the work itself: exit code 1.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
  virtual int exit_code() const { return 1; }
};

// Wrong use of the tool or of an interface, which the caller can put right: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
  int exit_code() const override { return 2; }
};

// Something wrong inside a file that was read; `where` is "file:line:column" (or as much as is
// known).
class InputError : public Error {
 public:
  InputError(const std::string& where, const std::string& sentence)
      : Error(where + ": " + sentence) {}
  int exit_code() const override { return 2; }
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void wrong_use(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace shellgame
