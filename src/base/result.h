// Result<T> and TRY: how pragma's own failures (files, processes, network, database) are returned.
// A bad kernel is never an Error. It is a value with a status (core/evaluation.h).
#pragma once

#include <expected>  // IWYU pragma: export
#include <string>
#include <utility>

namespace pragma {

// ErrorKind: what failed. It decides the exit code of the program (docs/design.md 1).
enum class ErrorKind {
  kUsage,        // the caller asked for something that cannot work: exit 2
  kTask,         // the task file itself fails: exit 2
  kInternal,     // pragma itself failed (no worker, full disk, broken store): exit 3
  kUnavailable,  // a tool or service is missing or refused to work: exit 3
  kInterrupted,  // the user asked to stop: exit 130
  kTooLong,      // a prompt is longer than the model takes: exit 3
  kTimeUp,       // the time that the user gave was over before an answer came: exit 3
};

// Error: one line for a person, which says what was tried, on what, and what to do next.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> Fail(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, std::move(message)});
}
[[nodiscard]] inline std::unexpected<Error> FailUsage(std::string message) {
  return Fail(ErrorKind::kUsage, std::move(message));
}
[[nodiscard]] inline std::unexpected<Error> Fail(std::string message) {
  return Fail(ErrorKind::kInternal, std::move(message));
}

// Returns an internal error with the text "`what`: `strerror(errno)`".
[[nodiscard]] std::unexpected<Error> FailErrno(const std::string& what);

}  // namespace pragma

// Evaluates to the value of a Result, or returns its error from the enclosing function.
#define TRY(expression)                                             \
  __extension__({                                                   \
    auto&& pragma_try_result = (expression);                        \
    if (!pragma_try_result) [[unlikely]]                            \
      return std::unexpected(std::move(pragma_try_result).error()); \
    std::move(pragma_try_result).value();                           \
  })
